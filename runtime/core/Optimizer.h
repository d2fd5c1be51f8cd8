// SGD over buckets, whole or only this rank's part of them, and the velocity that it needs: which
// bytes, on any backend.
#pragma once

#include "runtime/core/StepTable.h"

#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace syncline {

/// Velocity exists for the parameters that this rank updates, and for no others. Offsets and
/// lengths are bytes of Space::parameters and Space::gradients. The table outlives it. Not
/// thread-safe, but for shardUpdate between two calls that change it.
class Optimizer {
public:
  /// Zeroed memory for so many bytes, kept as long as the backend; null where there is none.
  using Allocate = std::function<std::byte *(std::int64_t bytes)>;

  Optimizer(const StepTable &table, int ranks, Allocate allocateVelocity)
      : table(table), ranks(ranks), allocateVelocity(std::move(allocateVelocity)) {}

  /// Whether the step's updates are of a type that the optimizer's loop is for.
  Status checkTypes() const;
  /// The step is complete: from now on there is memory for what is asked for.
  Status finish() { return isFinished = true, allocate(); }
  /// As the Executable's methods of these names.
  Status setOptimizer(const SgdOptions &chosen) { return options = chosen, allocate(); }
  Status takeShard(int bucket, std::int64_t begin, std::int64_t bytes);

  /// What a backend's loop has to do: [begin, begin + bytes) of parameters and gradients.
  struct Update {
    std::int64_t begin = 0, bytes = 0;
    std::byte *velocity = nullptr; ///< of these; null without momentum
    SgdOptions options;
  };
  Update update(const Bucket &bucket) const { return update(bucket.offset, bucket.extent); }
  /// Of the part that takeShard() made this rank's; internal when there is none.
  Result<Update> shardUpdate(int bucket) const;

  /// Where a parameter's velocity lies; badInput when there is none, or not all of it.
  Result<std::byte *> velocityOf(int parameter) const;
  /// Held for velocity.
  std::int64_t bytes() const;

private:
  struct Stretch {
    std::int64_t begin = 0, bytes = 0;
    std::byte *velocity = nullptr;
  };

  /// Velocity for all that this rank updates, as far as that is known.
  Status allocate();
  bool add(std::int64_t begin, std::int64_t bytes);
  /// Null unless all of it is in one stretch.
  std::byte *velocityAt(std::int64_t begin, std::int64_t bytes) const;
  Update update(std::int64_t begin, std::int64_t bytes) const;

  const StepTable &table;
  int ranks;
  Allocate allocateVelocity;
  SgdOptions options;
  bool isFinished = false;
  bool hasWholeBuckets = false;                                ///< their velocity is allocated
  std::map<int, std::pair<std::int64_t, std::int64_t>> shards; ///< begin and bytes by bucket
  std::vector<Stretch> stretches;
};

} // namespace syncline
