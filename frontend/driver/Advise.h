// `syncline inspect PLAN --advise ddp`.
#pragma once

#include "frontend/report/SweepReport.h"
#include "syncline/Status.h"

#include <cstdint>
#include <string>

namespace syncline::driver {

/// What a user of PyTorch's DistributedDataParallel can carry back from the plan of `folder`: the
/// bucket_cap_mb with which the step is predicted to be shortest on the plan's cluster, beside
/// DDP's default and the plan itself, from one planning and simulation a size. badInput where the
/// folder is no plan, DDP's rule has no answer for it, or one rank sends nothing.
Result<std::string> adviseDdp(const std::string &folder);

/// The sizes tried: as many MiB as people write, up to the first that holds all gradients.
std::vector<double> ddpSizes(std::int64_t gradientBytes);

/// `sizes` has one point a size and DDP's default among them; `plan` is the plan's own step,
/// simulated alike. Among sizes within 0.1 % of the shortest step the nearest to the default is
/// advised.
std::string ddpAdvice(const Sweep &sizes, const SweepPoint &plan, std::int64_t gradientBytes);

} // namespace syncline::driver
