// The end of an imported step whose loss the model computes.
#pragma once

#include "frontend/onnx/NodeImport.h"

namespace syncline::frontend {

/// Appends nn.loss for the output that is the loss; such a step has neither nn.output nor a target.
/// Errors: badInput for an output that does not depend on the inputs, or is not one number.
Status attachModelLoss(ImportState &state);

} // namespace syncline::frontend
