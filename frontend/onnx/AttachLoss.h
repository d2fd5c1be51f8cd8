// The end of an imported step: nn.output and the loss.
#pragma once

#include "frontend/onnx/NodeImport.h"

namespace syncline::frontend {

struct TrainedOutput {
  mlir::Value value;
  std::string name;
  double weight = 1; ///< of its loss in the sum
};

/// Appends nn.output for the first output, the target, each output's loss and nn.loss of their sum.
/// A cross-entropy is taken on the logits beneath a final Softmax or LogSoftmax, bce-with-logits
/// beneath a Sigmoid.
Status attachLoss(ImportState &state, llvm::ArrayRef<TrainedOutput> outputs);

} // namespace syncline::frontend
