// Sufficient factors: gradients that are a product, summed over samples, of two smaller tensors.
// The rows of an embedding's gradient with their numbers are such a pair too.
#pragma once

#include "ir/nn/NN.h"
#include "ir/sync/Sync.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace syncline::merge {

/// The two factors of a gradient. Ranks may exchange them instead of the gradient, since the sum
/// over ranks r of product(left_r, right_r) equals product(left_0 .. left_P-1, right_0 ..
/// right_P-1): the factors stand one behind the other along dimension 0, and the product sums over
/// that dimension. The left factor of an embedding's gradient are the numbers of the rows, as if
/// each were a row of an identity matrix.
struct FactorPair {
  /// nn.matmul {transpose_a}, nn.conv_backward_weights or nn.embedding_backward.
  mlir::Operation *product = nullptr;
  mlir::Value left, right; ///< operands of the product
  std::int64_t bytes = 0;  ///< bytes of both factors of one rank, dense

  /// The scheme by which the pair travels: sparse for the rows of an embedding, else factors.
  cluster::Scheme scheme() const;

  /// How many times as long the product takes for one more rank's samples. This is 1 for factors,
  /// whose product is linear in the samples. An embedding's gradient also clears the whole table,
  /// however many rows there are: its time is linear in the bytes that it reads and writes.
  double share() const;
};

/// The factors of a gradient that is, up to reshapes and transposes, one 2-D matrix product that
/// contracts dimension 0 of both operands, the dw of a convolution, or the sums of an embedding's
/// rows. Nothing where several
/// products are added (tied weights), where the gradient has another reader and is therefore
/// copied, or where a factor is a stored tensor, which an update may overwrite while the factor
/// travels. Time is linear in the copies between gradient and product.
std::optional<FactorPair> factorsOf(sync::GradientOp gradient);

/// Whether the gradient is a sum of a factor over its samples, as a bias's is of dy. A rank with
/// the gathered factors can then compute it too.
bool isPiggybackOf(sync::GradientOp gradient, const FactorPair &pair);

/// The gradients of a step that may be piggybacks, indexed by the value that they sum, so that a
/// pair's piggybacks are found without visiting all gradients. Valid while the step is unchanged.
class Piggybacks {
public:
  explicit Piggybacks(nn::StepOp step);

  /// The carrier's possible piggybacks in program order. `pair` holds the carrier's factors.
  llvm::SmallVector<sync::GradientOp> of(sync::GradientOp carrier, const FactorPair &pair) const;

private:
  struct Sum {
    std::size_t place; ///< index among the step's gradients
    sync::GradientOp gradient;
  };
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Sum, 1>> sumsOf; ///< keyed by the value that
                                                                 ///< is summed
};

/// The value of which `value` is a reshaped or transposed copy; `value` itself when it is no copy.
mlir::Value withoutCopies(mlir::Value value);

/// The value of which `value` is a reshape, so that elements have the same order; or
/// `value` itself.
mlir::Value withoutReshapes(mlir::Value value);

} // namespace syncline::merge
