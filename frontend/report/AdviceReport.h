// Bucket sizes for DistributedDataParallel, as text.
#pragma once

#include "frontend/sweep/Sweep.h"

#include <cstdint>
#include <string>
#include <vector>

namespace syncline::report {

/// The sizes to try, in bytes: round numbers of MiB, up to the first that holds all gradients.
std::vector<double> ddpSizes(std::int64_t gradientBytes);

/// The advice as text. `sizes` has one point a size, DDP's default among them; `plan` is the plan's
/// own step, simulated alike. Advises the size nearest to the default among those within 0.1 % of
/// the shortest step.
std::string ddpAdvice(const sweep::Sweep &sizes, const sweep::SweepPoint &plan,
                      std::int64_t gradientBytes);

} // namespace syncline::report
