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
  double reconstruct = 0; ///< seconds to compute one rank's share of the product from them
  /// A gradient of the same timeline that is a sum of a factor.
  struct Piggyback {
    std::size_t gradient = 0;
    double reconstruct = 0; ///< seconds of the sum besides; 0 where something before it computes it
  };
  llvm::SmallVector<Piggyback> piggybacks;
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
