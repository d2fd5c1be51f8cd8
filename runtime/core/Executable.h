// A training step prepared by a compute backend, on whatever device.
//
// Life of an Executable:
//   1. The backend's createExecutable() allocates the spaces.
//   2. Generated code describes the step to builder(); finish() reports the first error.
//   3. The training loop writes the initial values (TensorStore) and chooses the optimizer
//      (ShardedOptimizer).
//   4. For each step it fills input and target and runs the operations (StepRunner).
//
// One thread at a time uses an Executable. Collectives may work on a bucket's interval from another
// thread between the bucket's issue and the return of its wait.
#pragma once

#include "runtime/core/ShardedOptimizer.h"
#include "runtime/core/StepRunner.h"
#include "runtime/core/TensorStore.h"
#include "runtime/core/WeightArithmetic.h"

#include <cstdint>

namespace syncline::core {

class Executable;

/// How products and convolutions of f32 are computed where a device or a processor has faster, less
/// exact units.
enum class Precision {
  fp32, ///< with all bits of f32
  tf32, ///< factors rounded to 10 bits of mantissa where the device has such units
  bf16, ///< factors in bfloat16, sums in f32; weights, gradients and losses stay f32
};

struct ExecutableOptions {
  SpaceSizes sizes;
  int threads = 1;        ///< compute threads of this rank, at least 1
  std::uint64_t seed = 0; ///< for random operations such as dropout
  int rank = 0;
  int ranks = 1;  ///< gradients are sums over so many ranks; an update divides by it
  int device = 0; ///< index among this machine's accelerators; the CPU backend ignores it
  Precision precision = Precision::fp32; ///< fp32 is taken where Backend::hasPrecision() is not
  /// A finished executable of the same parameters and gradients, at the same offsets, whose memory
  /// and layouts of them the new one takes, and whose arena where that is large enough. It outlives
  /// the new one, and no two of them run at once. Null for memory of its own; the CPU backend alone
  /// can share.
  Executable *shares = nullptr;
};

class Executable : public StepRunner, public TensorStore, public ShardedOptimizer {
public:
  /// The interface to generated code. Valid as long as the executable; of no use after finish().
  virtual StepBuilder &builder() = 0;
  /// Ends the building. Returns the first error (badInput: a type, shape or layout that the backend
  /// cannot do; internal: the backend broke), or allocates scratch, after which the step can run.
  virtual Status finish() = 0;

  /// As write(), for the input and the target of the next step. The bytes may be changed once the
  /// call returns; a device may copy them while the step before still runs.
  virtual Status feed(int tensor, std::span<const std::byte> dense) { return write(tensor, dense); }

  /// Arithmetic on Space::parameters between steps. It lives as long as the executable.
  virtual WeightArithmetic &weights() = 0;

  /// Bytes held beside the spaces: scratch and velocity.
  virtual std::int64_t extraBytes() const = 0;
};

} // namespace syncline::core
