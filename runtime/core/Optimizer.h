// SGD over buckets, whole or only this rank's part of them, and the velocity that it needs: which
// bytes, on any backend.
#pragma once

#include "runtime/core/StepTable.h"

#include <map>
#include <vector>

namespace syncline {

/// What the optimizer asks of a backend.
class OptimizerDevice {
public:
  virtual ~OptimizerDevice() = default;

  /// Zeroed memory for so many bytes, kept until the device goes; null where there is none.
  virtual std::byte *allocateVelocity(std::int64_t bytes) = 0;
  /// One step over [begin, begin + bytes) of parameters and gradients. velocity: of these, null
  /// without momentum. onChannel: called by a channel, beside the step's operations.
  virtual Status update(std::int64_t begin, std::int64_t bytes, std::byte *velocity,
                        const SgdOptions &options, bool onChannel) = 0;
};

/// Velocity exists for the parameters that this rank updates, and for no others. Offsets and
/// lengths are bytes of Space::parameters and Space::gradients. The table and the device outlive
/// it. One thread at a time, but for updateShard, which any one thread may call beside update.
class Optimizer {
public:
  Optimizer(const StepTable &table, int ranks, OptimizerDevice &device)
      : table(table), ranks(ranks), device(device) {}

  /// Whether the step's updates are of a type that the optimizer's loop is for.
  Status checkTypes() const;
  /// The step is complete: from now on there is memory for what is asked for.
  Status finish() { return isFinished = true, allocate(); }
  /// As the Executable's methods of these names.
  Status setOptimizer(const SgdOptions &chosen) { return options = chosen, allocate(); }
  Status takeShard(int bucket, std::int64_t begin, std::int64_t bytes);
  Status updateShard(int bucket);
  Status update(const Bucket &bucket) { return update(bucket.offset, bucket.extent, false); }

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
  Status update(std::int64_t begin, std::int64_t bytes, bool onChannel);

  const StepTable &table;
  int ranks;
  OptimizerDevice &device;
  SgdOptions options;
  bool isFinished = false;
  bool hasWholeBuckets = false;                                ///< their velocity is allocated
  std::map<int, std::pair<std::int64_t, std::int64_t>> shards; ///< begin and bytes by bucket
  std::vector<Stretch> stretches;
};

} // namespace syncline
