// A Reshape's target shape, which may be written for another batch.
#pragma once

#include "frontend/onnx/NodeImport.h"

namespace syncline::frontend {

/// A result of the same elements, and where it has the batch.
struct View {
  nn::Dims dims;
  BatchLayout::Place place;
};

/// The result of a Reshape of operand 0, of shape `x` and with the batch in `place`, if anywhere.
/// One entry of the target carries the batch: one that is computed from it, or else the open one
/// (-1) or one that the exported batch divides, which is bound to the batch. An error where no
/// entry can, so that -1 never takes in samples.
mlir::FailureOr<View> reshapeView(NodeImport &node, nn::DimsRef x, BatchLayout::Place place);

} // namespace syncline::frontend
