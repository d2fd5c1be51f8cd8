// Sums that a batch norm's kernels compute: the residual sum and ReLU behind a norm, and the sum of
// gradients, and ReLU's gradient, in front of the norm's backward pass. A norm and a sum join where
// they are neighbours in the step, so that nothing reads or writes between them, and where their
// elements have one layout. If the residual is a norm's result too, which no other operation reads,
// one kernel computes both norms and their sum. The bits are those of kernels of their own.
#pragma once

#include "runtime/cuda/Preparation.h"
#include "runtime/cuda/kernels/BatchNormKernels.h"

#include <cstddef>
#include <memory>
#include <span>

namespace syncline::cuda {

/// A batch norm without an activation, and the sum behind it. Commands read it, and a later
/// operation may change `isNormRead`.
struct NormThenSum {
  std::size_t operation = 0; ///< the norm's
  Tensor x, y, mean, shift;
  Layout layout{};               ///< y's, in which the norm is computed
  Place<const std::byte> from{}; ///< x's; none if the norm reads a copy of x in scratch memory
  Place<const float> batchMean{}, runningMean{}; ///< the latter for evaluation, if it has both
  Place<const float> shifts{};

  bool isNormRead = false; ///< whether an operation that computes no norm reads y, which is stored
  /// Whether the sum's other summand is a norm's too, and that norm's kernel computes both. This
  /// one then keeps its factors.
  bool isDeferred = false;
  Place<float> gain{};

  bool isTaken = false; ///< whether this norm computes the sum; the rest holds if so
  bool hasRelu = false;
  Place<const std::byte> addend{};
  Place<std::byte> result{};
  std::shared_ptr<const NormThenSum> other{}; ///< the deferred norm that makes the addend

  bool skipsElements() const { return isDeferred && !isNormRead; }
  template <typename T> SumAfterNorm<T> operands(bool isEvaluation) const {
    SumAfterNorm<T> sum;
    if (!isTaken)
      return sum;
    sum = {.addend = addend.as<const T>(), .result = result.as<T>(), .hasRelu = hasRelu};
    if (other && other->skipsElements()) {
      sum.addend = other->from.as<const T>();
      const bool isByRunning = isEvaluation && other->runningMean.isValid();
      sum.mean = isByRunning ? other->runningMean : other->batchMean;
      sum.gain = other->gain;
      sum.shift = other->shifts;
    }
    return sum;
  }
};

/// A loop that sums gradients, and the norm's backward pass behind it.
struct SumThenNorm {
  std::size_t operation; ///< the loop's
  Tensor result;
  Layout layout;
  Place<const std::byte> first{}, second{}, gate{}; ///< the last two may be absent
  Place<std::byte> to{};

  bool isTaken = false; ///< whether the norm computes the sum

  template <typename T> SumBeforeNorm<T> operands() const {
    return {first.as<const T>(), second.as<const T>(), gate.as<const T>(), to.as<T>()};
  }
};

/// Offers a norm that is being prepared, whose operands and results have places, to later sums.
/// Null where y is not stored in `layout`, in which the norm is computed.
std::shared_ptr<const NormThenSum> offerNorm(Preparation &p, const Layout &layout,
                                             NormThenSum norm);
/// Whether the norm in front computes the loop that is being prepared, which then has no command.
bool joinsNorm(Preparation &p, std::span<const Tensor> ins, std::span<const Tensor> outs,
               const PointwiseInfo &info);

/// States that an operation reads a norm's y.
void storeNorm(Program &program, NormThenSum &norm);
/// States that these bytes change: no later operation can compute a norm from what lay there.
void closeNorms(Program &program, Space space, std::int64_t offset, std::int64_t bytes);

/// Offers a loop that is being prepared and has places for its operands and result to the operation
/// behind it. Null where it is no sum of gradients or where layouts differ.
std::shared_ptr<const SumThenNorm> offerSum(Preparation &p, std::span<const Tensor> ins, Tensor out,
                                            const PointwiseInfo &info,
                                            std::span<const Place<const std::byte>> operands,
                                            const Place<std::byte> &result);
/// The sum in front of a norm's backward pass that is being prepared, if the pass computes it. Null
/// otherwise. Precondition: the pass has a place for dy.
std::shared_ptr<const SumThenNorm> takeSum(Preparation &p, Tensor dy, const Layout &layout);

} // namespace syncline::cuda
