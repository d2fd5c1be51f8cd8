// LAMB's updates of buckets on a stream.
#pragma once

#include "runtime/core/Optimizer.h"
#include "runtime/cuda/Program.h"
#include "runtime/cuda/kernels/LambKernels.h"

#include <span>

namespace syncline::cuda {

/// Holds the sums of squares. Buckets may be updated on several streams at once, because each
/// parameter has memory of its own. The first enqueue(), which must not be captured, allocates it.
class LambUpdate {
public:
  LambUpdate(const Program &program, const core::Optimizer &optimizer)
      : program(program), optimizer(optimizer) {}

  std::int64_t bytes() const { return memory.bytes(); }

  struct Job {
    cudaStream_t stream;
    int bucket;
    double scale;         ///< by which gradients are multiplied first
    const double *factor; ///< UpdateOperands::factor
    const double *rate;   ///< UpdateOperands::rate
    const UpdateClock *clock;
  };
  /// Enqueues the update of a bucket, or of this rank's part of one. With `sum` a norm is that of
  /// all ranks' parts. Throws Failure.
  void enqueue(const Job &job, std::span<const core::Optimizer::Update> updates,
               const core::SumOverRanks &sum);

private:
  UpdateOperands operandsOf(const Job &job, const core::Optimizer::Update &what) const;
  /// The sums of each block of a parameter; those of whole parameters, one behind the other.
  double *squaresOf(std::size_t parameter) const;
  double *sumsOf(std::size_t parameter) const;

  const Program &program;
  const core::Optimizer &optimizer;
  DeviceMemory memory;
};

} // namespace syncline::cuda
