// What the ranks may exchange in place of the gradients of a timeline, and what that costs.
#pragma once

#include "ir/cluster/Cluster.h"
#include "passes/cost/Timeline.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace syncline {

struct TimedFactors {
  std::int64_t bytes = 0; ///< of both factors of one rank
  double rebuild = 0;     ///< seconds to compute one rank's share from them, riders included
  /// Gradients of the same timeline that are sums of a factor.
  llvm::SmallVector<std::size_t> riders;
};

/// Entry k is of timeline.gradients[k], nothing where it has no factors. A step's are found by
/// factorsOf, which needs its `sync.gradient` operations, and take the predicted seconds of the
/// operations that make the gradient. A trace's layer has them where its bytes are those of its
/// matrix of f32, with or without a bias; its share takes 2MNK operations at the device's rate, or
/// where the device has none, half of the layer's backward time (the other half makes the gradient
/// of its input).
std::vector<std::optional<TimedFactors>> timedFactors(const cost::Timeline &timeline,
                                                      cluster::DeviceAttr device);

} // namespace syncline
