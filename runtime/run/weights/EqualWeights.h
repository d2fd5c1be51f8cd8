// Whether all ranks hold the same weights.
#pragma once

#include "runtime/core/TensorStore.h"
#include "runtime/transport/Group.h"

#include <cstdint>
#include <string>

namespace syncline::run {

/// A digest of all parameters, which one changed bit changes. It finds faults, not forgeries.
Result<std::string> weightsDigest(core::TensorStore &store);

/// Compares the weights of all workers after `completed` steps. Broken memory or a changed message
/// would otherwise be found by nobody: each rank goes on with its own weights. All workers call it
/// together, with a number of steps for which they have not called it before. Precondition: the
/// plan's consistency makes their weights equal now. Errors: peerLost, naming who differs.
Status expectEqualWeights(core::TensorStore &store, transport::Group &group,
                          std::int64_t completed);

} // namespace syncline::run
