// What reshaping and slicing operators select, for tensors of the step and constants alike.
#pragma once

#include "frontend/onnx/ReshapeRule.h"

namespace syncline::frontend {

/// The result of Reshape, Flatten, Squeeze or Unsqueeze on operand 0, of shape `x` and with the
/// batch in `place`, if anywhere. A Reshape target that states the exported batch is bound to the
/// batch; a Squeeze without axes keeps it.
mlir::FailureOr<View> viewOf(NodeImport &node, nn::DimsRef x, BatchLayout::Place place);

/// The shape of that result on a constant.
mlir::FailureOr<nn::Dims> viewShape(NodeImport &node, nn::DimsRef x);

/// Elements starts[d], starts[d] + steps[d], ..., counts[d] of them, in every dimension.
struct SliceRanges {
  nn::Dims starts, steps, counts;
};

/// All of `x`.
SliceRanges wholeRange(nn::DimsRef x);

/// Slice's ranges, counts may be 0.
mlir::FailureOr<SliceRanges> sliceRanges(NodeImport &node, nn::DimsRef x);

/// The axes of a reduction, ascending; none where it reduces nothing. They are an attribute before
/// opset 13 (ReduceSum) or 18 (others), an operand since.
mlir::FailureOr<nn::Dims> reducedAxes(NodeImport &node, size_t rank);

/// Transpose's permutation.
mlir::FailureOr<nn::Dims> permutation(NodeImport &node, size_t rank);

/// How often Tile repeats each dimension.
mlir::FailureOr<nn::Dims> tileRepeats(NodeImport &node, size_t rank);

/// Gather's axis.
mlir::FailureOr<std::int64_t> gatherAxis(NodeImport &node, size_t rank);

/// Gather's indices, counted from the front and checked.
mlir::FailureOr<nn::Dims> gatherIndices(NodeImport &node, std::int64_t size);

/// The result of Shape or Size on a tensor of these dimensions.
ConstantTensor shapeConstant(NodeImport &node, nn::DimsRef dims);

} // namespace syncline::frontend
