// Bookkeeping of SGD for every backend: which bytes this rank updates, whole buckets or shards of
// them, and where their velocity lies.
#pragma once

#include "runtime/core/ShardedOptimizer.h"
#include "runtime/core/StepTable.h"

#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace syncline::core {

/// Velocity exists only for the parameters that this rank updates. Offsets and lengths are
/// in bytes, in Space::parameters and Space::gradients alike. The table outlives the
/// optimizer. Only shardUpdate() may be called from another thread, and not during a call
/// that changes the optimizer.
class Optimizer {
public:
  /// Returns `bytes` of zeroed memory, which lives as long as the backend's executable, or null
  /// when memory is short.
  using Allocate = std::function<std::byte *(std::int64_t bytes)>;

  Optimizer(const StepTable &table, int ranks, Allocate allocateVelocity)
      : table(table), ranks(ranks), allocateVelocity(std::move(allocateVelocity)) {}

  /// Ok when all parameters that the step updates have a type that the optimizer's loop supports.
  Status checkTypes() const;
  /// Ends the building of the step. Velocity is allocated from now on.
  Status finish() { return isFinished = true, allocate(); }
  /// Implement ShardedOptimizer's methods of these names.
  Status setOptimizer(const SgdOptions &chosen) { return options = chosen, allocate(); }
  Status takeShard(int bucket, std::int64_t begin, std::int64_t bytes);

  /// One update for a backend's loop: the bytes [begin, begin + bytes) of parameters and gradients.
  struct Update {
    std::int64_t begin = 0, bytes = 0;
    std::byte *velocity = nullptr; ///< velocity of these bytes; null without momentum
    SgdOptions options;
  };
  Update update(const Bucket &bucket) const { return update(bucket.offset, bucket.extent); }
  /// The update of the part that takeShard() gave this rank. Errors: internal when there is no
  /// such part.
  Result<Update> shardUpdate(int bucket) const;

  /// The address of a parameter's velocity. Errors: badInput when this rank does not hold all
  /// of it.
  Result<std::byte *> velocityOf(int parameter) const;
  /// Bytes held for velocity.
  std::int64_t bytes() const;

private:
  struct Stretch {
    std::int64_t begin = 0, bytes = 0;
    std::byte *velocity = nullptr;
  };

  /// Allocates velocity for all parameters that this rank is known to update.
  Status allocate();
  bool add(std::int64_t begin, std::int64_t bytes);
  /// The velocity of this interval, or null unless one stretch holds all of it.
  std::byte *velocityAt(std::int64_t begin, std::int64_t bytes) const;
  Update update(std::int64_t begin, std::int64_t bytes) const;

  const StepTable &table;
  int ranks;
  Allocate allocateVelocity;
  SgdOptions options;
  bool isFinished = false;
  bool hasWholeBuckets = false; ///< velocity of whole buckets is allocated
  std::map<int, std::pair<std::int64_t, std::int64_t>> shards; ///< begin and bytes by bucket
  std::vector<Stretch> stretches;
};

} // namespace syncline::core
