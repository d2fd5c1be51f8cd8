// Bookkeeping of optimizers for every backend: which bytes this rank updates, whole buckets or
// shards of them, with which options, and where their state lies.
#pragma once

#include "runtime/core/ShardedOptimizer.h"
#include "runtime/core/StepTable.h"

#include <array>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace syncline::core {

/// State exists only for the parameters that this rank updates. Offsets and lengths are in bytes,
/// in Space::parameters and Space::gradients alike. The table outlives the optimizer. Only
/// shardUpdates() and countUpdate() may be called from other threads, each for another bucket, and
/// not during a call that changes the optimizer, except setRate() of another bucket.
class Optimizer {
public:
  /// Returns `bytes` of zeroed memory, which lives as long as the backend's executable, or null
  /// when memory is short.
  using Allocate = std::function<std::byte *(std::int64_t bytes)>;

  Optimizer(const StepTable &table, int ranks, Allocate allocateState)
      : table(table), ranks(ranks), allocateState(std::move(allocateState)) {}

  /// Ok when all parameters that the step updates have a type that the optimizer's loop supports.
  Status checkTypes() const;
  /// Ends the building of the step. State is allocated from now on.
  Status finish();
  /// Implement ShardedOptimizer's methods of these names.
  Status setOptimizer(const OptimizerOptions &chosen);
  const OptimizerOptions &current() const { return options; }
  void setRate(int bucket, double rate);
  Status setRules(const std::map<int, ParameterRule> &rules);
  Status setUpdates(std::int64_t count);
  Status takeShard(int bucket, std::int64_t begin, std::int64_t bytes);
  std::vector<StateInterval> stateIntervals() const;

  /// One update for a backend's loop: the bytes [begin, begin + bytes) of parameters and gradients,
  /// which have the same options. With LAMB all of them belong to one parameter.
  struct Update {
    std::int64_t begin = 0, bytes = 0;
    std::size_t place = 0;              ///< with LAMB, of its parameter among those of the bucket
    std::array<std::byte *, 2> state{}; ///< of these bytes, by slot; null where none is kept
    OptimizerOptions options;
    double rateFactor = 1; ///< options.rate divided by the bucket's rate
  };
  /// The updates of a whole bucket.
  std::vector<Update> updates(const Bucket &bucket) const {
    return updates(bucket, bucket.offset, bucket.extent);
  }
  /// The updates of the part that takeShard() gave this rank. Errors: internal when there is no
  /// such part.
  Result<std::vector<Update>> shardUpdates(int bucket) const;
  /// The number of the bucket's parameters, and of those before it in Space::parameters.
  std::size_t parametersOf(int bucket) const;
  std::size_t firstParameterOf(int bucket) const {
    return parameterAt(table.findBucket(bucket)->offset);
  }
  /// The number of all of them, once the step is complete.
  std::size_t parameterCount() const { return parameters.size(); }
  /// Ok unless LAMB needs norms of a part of the bucket that this rank has alone.
  Status expectWhole(int bucket) const;
  /// Counts an update of the bucket and returns how many it has had with this one.
  std::int64_t countUpdate(int bucket) { return ++made.find(bucket)->second; }

  /// The address of an interval's state. Errors: badInput when this rank does not hold it, or for
  /// another size than the interval's.
  Result<std::byte *> stateOf(const StateInterval &interval, std::size_t size) const;
  /// The address of a parameter's state of slot 0. Errors: badInput when this rank does not hold
  /// all of it.
  Result<std::byte *> velocityOf(int parameter) const;
  /// Bytes held for state.
  std::int64_t bytes() const;

private:
  struct Stretch {
    std::int64_t begin = 0, bytes = 0;
    std::array<std::byte *, 2> state{};
  };

  /// Allocates state for all parameters that this rank is known to update.
  Status allocate();
  void add(std::int64_t begin, std::int64_t bytes);
  void addWholeBuckets();
  /// The stretch that holds all of this interval, or null.
  const Stretch *stretchOf(std::int64_t begin, std::int64_t bytes) const;
  std::vector<Update> updates(const Bucket &of, std::int64_t begin, std::int64_t bytes) const;
  /// Fills `parameters`.
  void placeRules();
  /// The number of the last parameter that begins at `offset` or before.
  std::size_t parameterAt(std::int64_t offset) const;
  /// Ok unless a message carries a part of a parameter and the optimizer needs whole ones.
  Status checkWhole() const;

  const StepTable &table;
  int ranks;
  Allocate allocateState;
  OptimizerOptions options;
  std::map<int, ParameterRule> given; ///< what setRules() was told
  struct Parameter {
    std::int64_t begin = 0; ///< its bytes, and padding, end where the next one begins
    ParameterRule rule;
  };
  std::vector<Parameter> parameters{{}}; ///< by offset; the first one begins at 0
  bool isFinished = false;
  bool hasWholeBuckets = false; ///< there are stretches for whole buckets
  std::map<int, std::pair<std::int64_t, std::int64_t>> shards; ///< begin and bytes by bucket
  // Different threads use different buckets' entries of these two, so the maps do not change once
  // the step is finished.
  std::map<int, std::int64_t> made; ///< updates by bucket
  std::map<int, double> rates;      ///< of the next updates, by bucket
  std::vector<Stretch> stretches;
};

} // namespace syncline::core
