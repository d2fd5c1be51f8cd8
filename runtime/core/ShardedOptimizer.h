// The optimizer of a prepared step, whose work and state may be spread over the ranks.
#pragma once

#include "runtime/core/OptimizerOptions.h"
#include "syncline/Status.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

namespace syncline::core {

/// A stretch of the optimizer's state that this rank holds.
struct StateInterval {
  int slot = 0;                      ///< 0: first moment or velocity, 1: second moment
  std::int64_t begin = 0, bytes = 0; ///< in Space::parameters
  bool operator==(const StateInterval &) const = default;
};

/// Replaces each number by its sum over the ranks, which has the same bits on all of them, or
/// enqueues that. The numbers lie in the memory of the executable's device. All ranks call it with
/// equally many. Errors: peerLost.
using SumOverRanks = std::function<Status(std::span<double>)>;

/// A bucket that travels by "reduce-scatter" is updated on the way: its channel sums the gradients
/// over the ranks, each rank updates the part that takeShard() gave it, and the channel gathers the
/// parameters. The update operations of all other buckets are operations of the step.
class ShardedOptimizer {
public:
  virtual ~ShardedOptimizer() = default;

  /// Chooses the optimizer. It may be called between steps, for a new rate. State starts at 0.
  /// Errors: badInput where memory is short, and for LAMB where a bucket has a part of a parameter.
  virtual Status setOptimizer(const OptimizerOptions &options) = 0;
  /// Sets the rate of one bucket's updates from the next one on, in place of the options'. Not
  /// between the bucket's issue and the return of its wait; other buckets may be under way. It is
  /// not for updates that StepRunner::replay() carries out.
  virtual void setRate(int bucket, double rate) = 0;
  /// Sets the rate of the steps that begin from now on, for updates that StepRunner::replay()
  /// carries out: each one has the rate of the step that computed its gradients. Without a call,
  /// the rate is that of setOptimizer().
  virtual void setStepRate(double) {}
  /// Chooses what differs for single parameters, by their indices in TensorStore::tensors(). Called
  /// between steps. Errors: internal for an index that is no parameter's.
  virtual Status setRules(const std::map<int, ParameterRule> &rules) = 0;
  /// States how many updates each parameter has had, which is 0 without a call. For a run that
  /// resumes: Adam's bias corrections count updates. Called while no message is under way.
  virtual Status setUpdates(std::int64_t made) = 0;

  /// States which bytes of a bucket by "reduce-scatter" this rank updates: [begin, begin + bytes)
  /// of its interval, whole f32 elements. Called once, before the first step. The rank holds
  /// state for these bytes only.
  virtual Status takeShard(int bucket, std::int64_t begin, std::int64_t bytes) = 0;
  /// Updates this rank's part of the bucket, whose gradients are sums over all ranks. Any one
  /// thread may call it between the bucket's issue and the return of its wait, while another
  /// thread runs operations and channels' threads update other buckets. LAMB calls `sum` once, with
  /// squares of all parameters of the bucket; without `sum` the part must be the whole bucket.
  virtual Status updateShard(int bucket, const SumOverRanks &sum = {}) = 0;

  /// The state that this rank holds, ordered by slot and begin: nothing for SGD without momentum.
  /// It depends on the optimizer and on this rank's shards only.
  virtual std::vector<StateInterval> stateIntervals() const = 0;
  /// Copy state to or from host memory, in the backend's own layout of the parameters. The interval
  /// is one of stateIntervals() or a part of it, and `raw` has its size. Both wait for the device,
  /// and must not be called while a message is under way. Errors: badInput for other intervals.
  virtual Status readState(const StateInterval &interval, std::span<std::byte> raw) = 0;
  virtual Status writeState(const StateInterval &interval, std::span<const std::byte> raw) = 0;

  /// Copy a parameter's state of slot 0 to or from dense row-major host memory. `parameter` is an
  /// index into TensorStore::tensors(). Errors: badInput without state and, on several ranks, for a
  /// parameter whose bucket travels by "reduce-scatter", because no rank holds all of its state.
  virtual Status readVelocity(int parameter, std::span<std::byte> dense) = 0;
  virtual Status writeVelocity(int parameter, std::span<const std::byte> dense) = 0;

  /// Whether updates since the last call kept an element for OptimizerOptions::keepsFinite. Waits
  /// for the device. Must not be called while a channel may update.
  virtual bool metNonFinite() { return false; }
};

} // namespace syncline::core
