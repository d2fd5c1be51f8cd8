// The optimizer of a prepared step, whose work and state may be spread over the ranks.
#pragma once

#include "syncline/Status.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace syncline::core {

/// Stochastic gradient descent as PyTorch's torch.optim.SGD with dampening 0:
///
///     g ← gradient/ranks + weightDecay·w
///     v ← momentum·v + g
///     w ← w - rate·(nesterov ? g + momentum·v : momentum ? v : g)
struct SgdOptions {
  double rate = 0.01;
  double momentum = 0;
  double weightDecay = 0;
  bool nesterov = false;
  /// An element whose update would not be finite keeps its value and its velocity, and
  /// metNonFinite() reports it.
  bool keepsFinite = false;
};

/// A bucket that travels by "reduce-scatter" is updated on the way: its channel sums the gradients
/// over the ranks, each rank updates the part that takeShard() gave it, and the channel gathers the
/// parameters. The update operations of all other buckets are operations of the step.
class ShardedOptimizer {
public:
  virtual ~ShardedOptimizer() = default;

  /// Chooses the optimizer. It may be called between steps, for a new rate. Velocity starts at 0.
  virtual Status setOptimizer(const SgdOptions &options) = 0;

  /// States which bytes of a bucket by "reduce-scatter" this rank updates: [begin, begin + bytes)
  /// of its interval, whole f32 elements. Called once, before the first step. The rank holds
  /// velocity for these bytes only.
  virtual Status takeShard(int bucket, std::int64_t begin, std::int64_t bytes) = 0;
  /// Updates this rank's part of the bucket, whose gradients are sums over all ranks. Any one
  /// thread may call it between the bucket's issue and the return of its wait, while another
  /// thread runs operations and channels' threads update other buckets.
  virtual Status updateShard(int bucket) = 0;

  /// Copy a parameter's velocity to or from dense row-major host memory. `parameter` is an index
  /// into TensorStore::tensors(). Errors: badInput without momentum and, on several ranks, for a
  /// parameter whose bucket travels by "reduce-scatter", because no rank holds all of its velocity.
  virtual Status readVelocity(int parameter, std::span<std::byte> dense) = 0;
  virtual Status writeVelocity(int parameter, std::span<const std::byte> dense) = 0;

  /// Whether updates since the last call kept an element for SgdOptions::keepsFinite. Waits for the
  /// device. Must not be called while a channel may update.
  virtual bool metNonFinite() { return false; }
};

} // namespace syncline::core
