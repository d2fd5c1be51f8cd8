// The norm of a step's gradients, which stays on the device.
#pragma once

#include "runtime/cuda/Program.h"
#include "runtime/cuda/kernels/SquareKernels.h"

#include <memory>

namespace syncline::cuda {

/// Enqueues on the stream of the computation, so that no host waits for the norm, and a capture has
/// it too. Memory is allocated by the first add(), which must not be captured. The program outlives
/// it. All functions but hostNorm() throw Failure.
class GradientNorm {
public:
  explicit GradientNorm(const Program &program) : program(program) {}

  /// Sets the limit of the mean gradients' norm.
  void setLimit(double limit) { mean.limit = limit; }
  /// Sets what makes the mean over the ranks of a sum of gradients.
  void setMeanScale(double scale) { mean.meanScale = scale; }

  /// Adds up the squares of a bucket's gradients in the bytes [begin, begin + bytes): all of them,
  /// or if `isPart` those of a part that other ranks do not have.
  void add(const core::Bucket &bucket, std::int64_t begin, std::int64_t bytes, bool isPart);
  /// Implements StepRunner::shardSquares().
  double *sumParts();
  /// The place of the factor by which updates multiply gradients; null before the first add(). The
  /// first call behind an add() enqueues its computation.
  const double *factor();
  /// Whether there is a norm.
  bool isUsed() const { return sums.data() != nullptr; }
  /// The norm that factor() has found, once the device has done it. Precondition: isUsed().
  double hostNorm() const { return *norm; }
  /// The place of hostNorm(), which the device can read too. Precondition: isUsed().
  const double *hostPlace() const { return norm.get(); }

private:
  struct FreeHost {
    void operator()(double *memory) const { cudaFreeHost(memory); }
  };
  /// The sums of squares of whole buckets, those of parts, scratch memory, the sum of all parts and
  /// the factor lie one behind the other.
  double *at(std::size_t index) const { return reinterpret_cast<double *>(sums.data()) + index; }
  std::size_t buckets() const { return program.table.buckets.size(); }
  double *scratch() const { return at(2 * buckets()); }
  double *ofParts() const { return scratch() + squareBlocks; }
  void allocate();

  const Program &program;
  ClippedMean mean{1, 0};
  /// Host memory that the device writes. It is freed behind `sums`, whose freeing waits for that.
  std::unique_ptr<double, FreeHost> norm;
  DeviceMemory sums;
  bool isDue = false; ///< squares were added since factor()
};

} // namespace syncline::cuda
