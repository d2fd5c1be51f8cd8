// `syncline inspect PLAN --advise ddp`.
#pragma once

#include "syncline/Status.h"

#include <string>

namespace syncline::driver {

/// What a user of PyTorch's DistributedDataParallel can carry back from the plan of `folder`: the
/// bucket_cap_mb with which the step is predicted to be shortest on the plan's cluster, beside
/// DDP's default and the plan itself, from one planning and simulation a size. badInput where the
/// folder is no plan, DDP's rule has no answer for it, or one rank sends nothing.
Result<std::string> adviseDdp(const std::string &folder);

} // namespace syncline::driver
