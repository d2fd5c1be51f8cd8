// Sufficient factors: gradients that are a product over samples of two smaller tensors.
#pragma once

#include "ir/nn/NN.h"
#include "ir/sync/Sync.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace syncline {

/// What a gradient is made from, so that the ranks may exchange that instead of the gradient.
///
/// Sum over ranks r of product(left_r, right_r) = product(left_0 .. left_P-1, right_0 ..
/// right_P-1), the factors one behind the other along dimension 0: the product sums over that
/// dimension.
struct FactorPair {
  mlir::Operation *product = nullptr; ///< nn.matmul {transpose_a} or nn.conv_backward_weights
  mlir::Value left, right;            ///< its operands
  std::int64_t bytes = 0;             ///< of both, of one rank, dense
};

/// The factors of a gradient that is, up to reshapes and transposes, one 2-D matrix product that
/// contracts dimension 0 of both operands, or the dw of a convolution. Nothing where it is not:
/// where several products are added (tied weights), where it is read elsewhere and therefore
/// copied, or where a factor is no tensor of the samples but a stored one, which an update may
/// overwrite while the factor travels.
/// Linear in the copies that it is behind.
std::optional<FactorPair> factorsOf(sync::GradientOp gradient);

/// Is the gradient a sum of a factor over its samples, as a bias's is of dy? Whoever has the
/// gathered factors has it too.
bool ridesWith(sync::GradientOp gradient, const FactorPair &pair);

/// The gradients of a step that may ride, by what they are sums of: who rides with a pair is found
/// without a look at the others. Valid while the step stays as it is.
class Piggybacks {
public:
  explicit Piggybacks(nn::StepOp step);

  /// All that ride with the carrier, in program order. `pair`: the carrier's factors.
  llvm::SmallVector<sync::GradientOp> of(sync::GradientOp carrier, const FactorPair &pair) const;

private:
  struct Sum {
    std::size_t place; ///< among the step's gradients
    sync::GradientOp gradient;
  };
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Sum, 1>> sumsOf; ///< by what is summed
};

/// The value that `value` is a reshaped or transposed copy of; itself when it is no copy.
mlir::Value withoutCopies(mlir::Value value);

/// The same through reshapes alone: the result has the value's elements in the same order.
mlir::Value withoutReshapes(mlir::Value value);

} // namespace syncline
