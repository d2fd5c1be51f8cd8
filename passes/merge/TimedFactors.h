// The factors of a timeline's gradients, with their bytes and the cost of reconstruction.
#pragma once

#include "ir/cluster/Cluster.h"
#include "passes/cost/Timeline.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace syncline::merge {

struct TimedFactors {
  cluster::Scheme scheme = cluster::Scheme::factors;
  std::int64_t bytes = 0; ///< bytes of both factors of one rank
  double reconstruct = 0; ///< seconds that one more rank's samples add to the product
  /// A gradient of the timeline that is a sum of a factor.
  struct Piggyback {
    std::size_t gradient = 0; ///< index in the timeline
    double reconstruct = 0;   ///< seconds of the sum; 0 where another operation includes it
  };
  llvm::SmallVector<Piggyback> piggybacks;
};

/// The factors of each of timeline.gradients, nothing where a gradient has none. For a step,
/// factorsOf finds them, which needs the `sync.gradient` operations, and their seconds are those
/// predicted for the operations that make the gradient. A trace's layer has those that it states
/// (`gathered`), and its piggybacks are the layers that name it as `carrier`. One that states none
/// has factors where its bytes are those of its matrix of f32, with or without a bias. One share
/// then takes 2MNK operations at the device's rate, or where the rate is unknown half of the
/// layer's backward time (the other half makes the gradient of the layer's input).
std::vector<std::optional<TimedFactors>> timedFactors(const cost::Timeline &timeline,
                                                      cluster::DeviceAttr device);

} // namespace syncline::merge
