// SGD over buckets, whole or only this rank's part of them, and the velocity that it needs.
#pragma once

#include "runtime/cpu/Program.h"

#include <map>
#include <vector>

namespace syncline::cpu {

/// Velocity exists for the parameters that this rank updates, and for no others. Offsets and
/// lengths are bytes of Space::parameters and Space::gradients.
class Optimizer {
public:
  explicit Optimizer(Program &program) : program(program) {}

  /// Whether the step's updates are of a type that the optimizer's loop is for.
  Status checkTypes() const;
  /// The step is complete: from now on there is memory for what is asked for.
  Status finish() { return isFinished = true, allocate(); }
  /// As the Executable's methods of these names.
  Status setOptimizer(const SgdOptions &chosen) { return options = chosen, allocate(); }
  Status takeShard(int bucket, std::int64_t begin, std::int64_t bytes);
  Status updateShard(int bucket);
  void update(const Bucket &bucket) { update(bucket.offset, bucket.extent); }

  /// Where a parameter's velocity lies; badInput when there is none, or not all of it.
  Result<std::byte *> velocityOf(int parameter) const;
  /// Held for velocity.
  std::int64_t bytes() const;

private:
  struct Stretch {
    std::int64_t begin = 0, bytes = 0;
    HostMemory velocity;
  };

  /// Velocity for all that this rank updates, as far as that is known.
  Status allocate();
  bool add(std::int64_t begin, std::int64_t bytes);
  /// Null unless all of it is in one stretch.
  std::byte *velocityAt(std::int64_t begin, std::int64_t bytes) const;
  void update(std::int64_t begin, std::int64_t bytes);

  Program &program;
  SgdOptions options;
  bool isFinished = false;
  bool hasWholeBuckets = false;                                ///< their velocity is allocated
  std::map<int, std::pair<std::int64_t, std::int64_t>> shards; ///< begin and bytes by bucket
  std::vector<Stretch> stretches;
};

} // namespace syncline::cpu
