// Operators computed at import: shape arithmetic as exporters write it.
#pragma once

#include "frontend/onnx/NodeImport.h"

namespace syncline::frontend {

using Constants = llvm::ArrayRef<const ConstantTensor *>;

/// Computes result 0 from operands 0, 1, ...; all are present. Operands are rounded to their types.
/// The caller sets `fromShape` and rounds the result's elements to its type, so that arithmetic and
/// sums of products compute in double, or in integers modulo 2^64.
using FoldFunction = mlir::FailureOr<ConstantTensor> (*)(NodeImport &, Constants);

/// Computes the node's results from known operands; false without an error when the node is not of
/// the kind that is computed at import.
mlir::FailureOr<bool> foldNode(NodeImport &node);

/// Defines the result of an elementwise operator that has no elements, since an operand has none;
/// false without an error where it has some.
mlir::FailureOr<bool> foldEmpty(NodeImport &node);
/// Whether operand `i` is known and has no elements.
bool isEmpty(NodeImport &node, unsigned i);
/// Defines result `i` as one without elements, of these dimensions, of a type of TensorProto.
mlir::LogicalResult defineEmpty(NodeImport &node, int type, nn::DimsRef dims,
                                nn::DimsRef atOtherBatch, unsigned i = 0);
/// Defines a part of x, operand 0, of so many elements along each dimension, of which one is 0.
mlir::LogicalResult defineEmptyPart(NodeImport &node, mlir::Value x, nn::DimsRef counts,
                                    unsigned i = 0);

/// Elementwise operators; null for others.
FoldFunction findElementwiseFold(llvm::StringRef op);
/// Operators that move or combine elements; null for others.
FoldFunction findShapeFold(llvm::StringRef op);

/// The rows that GatherND or ScatterND name in x: each list of indices stands for a place in the
/// dimensions behind the first `shared`, in which indices and x agree, and the places are counted
/// through x's dimensions up to the last one named.
mlir::FailureOr<nn::Dims> rowsNamed(NodeImport &node, nn::DimsRef x, const ConstantTensor &indices,
                                    std::int64_t shared = 0);
/// Takes the rows that indices name.
mlir::FailureOr<ConstantTensor> foldGatherNd(NodeImport &node, Constants in);

/// Writes updates into a constant, or clears one side of a diagonal.
mlir::FailureOr<ConstantTensor> foldScatterNd(NodeImport &node, Constants in);
mlir::FailureOr<ConstantTensor> foldTrilu(NodeImport &node, Constants in);
/// The places of elements that are not zero.
mlir::FailureOr<ConstantTensor> foldNonZero(NodeImport &node, Constants in);
/// Takes the elements that indices name along one dimension.
mlir::FailureOr<ConstantTensor> foldGatherElements(NodeImport &node, Constants in);

/// Computes an Expand, a Tile or an elementwise operator by `fold`, whose result is too large to be
/// computed as a whole, on operands without the dimensions along which they repeat. False where the
/// result is not too large, or an operand is not known.
mlir::FailureOr<bool> foldRepeated(NodeImport &node, FoldFunction fold);
/// Refuses a folded result with integers that constants do not hold.
mlir::LogicalResult checkFolded(NodeImport &node, const ConstantTensor &result);

/// The values in another type, which TensorProto.DataType names.
ConstantTensor castTo(const ConstantTensor &x, int to);

/// A product of two constants.
mlir::FailureOr<ConstantTensor> foldEinsum(NodeImport &node, Constants in);
mlir::FailureOr<ConstantTensor> foldMatMul(NodeImport &node, Constants in);

/// A reduction to sums, products, extremes or norms. Integers wrap around, means of them drop the
/// fraction of the quotient.
mlir::FailureOr<ConstantTensor> foldReduce(NodeImport &node, Constants in);
mlir::FailureOr<ConstantTensor> foldCumSum(NodeImport &node, Constants in);
/// The dimension along which CumSum sums.
mlir::FailureOr<std::int64_t> cumSumAxis(NodeImport &node, size_t rank);

/// The elements x[base + Σ index·strides] at every index of `dims`. An error for more
/// than maxConstantElements.
mlir::FailureOr<ConstantTensor> stridedView(NodeImport &node, const ConstantTensor &x,
                                            const nn::Dims &dims, std::int64_t base,
                                            const nn::Dims &strides);
/// `x` broadcast to `dims` by numpy's rules.
mlir::FailureOr<ConstantTensor> broadcastTo(NodeImport &node, const ConstantTensor &x,
                                            const nn::Dims &dims);

} // namespace syncline::frontend
