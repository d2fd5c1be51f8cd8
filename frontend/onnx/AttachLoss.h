// The end of an imported step: nn.output and the loss.
#pragma once

#include "frontend/onnx/NodeImport.h"

namespace syncline::frontend {

/// Appends nn.output for `output`, the target, the loss operation and nn.loss. A cross-entropy is
/// taken on the logits beneath a final Softmax or LogSoftmax, bce-with-logits beneath a Sigmoid.
Status attachLoss(ImportState &state, mlir::Value output, const std::string &name);

} // namespace syncline::frontend
