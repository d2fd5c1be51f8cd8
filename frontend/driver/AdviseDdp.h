// `syncline inspect --advise ddp`.
#pragma once

#include "syncline/Status.h"

#include <string>

namespace syncline::driver {

/// Advises a user of PyTorch's DistributedDataParallel from the plan of `folder`: the text names
/// the buckets with the shortest predicted step on the plan's cluster, beside DDP's default and the
/// plan itself. Each size is planned and simulated once. Errors: badInput where the folder is no
/// plan, DDP's rule has no answer for it, its ranks have batches of their own, or the only rank
/// sends nothing.
Result<std::string> adviseDdp(const std::string &folder);

} // namespace syncline::driver
