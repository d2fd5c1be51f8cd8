// Bucket sizes for DistributedDataParallel, as text.
#pragma once

#include "frontend/sweep/Sweep.h"

#include <cstdint>
#include <string>
#include <vector>

namespace syncline::report {

/// The sizes tried: as many MiB as people write, up to the first that holds all gradients.
std::vector<double> ddpSizes(std::int64_t gradientBytes);

/// `sizes` has one point a size and DDP's default among them; `plan` is the plan's own step,
/// simulated alike. Among sizes within 0.1 % of the shortest step the nearest to the default is
/// advised.
std::string ddpAdvice(const sweep::Sweep &sizes, const sweep::SweepPoint &plan,
                      std::int64_t gradientBytes);

} // namespace syncline::report
