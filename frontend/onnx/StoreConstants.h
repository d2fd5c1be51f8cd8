// Large constants are values beside the weights.
#pragma once

#include "frontend/onnx/WeightsFile.h"

#include "mlir/IR/Block.h"

namespace syncline::frontend {

/// Makes a fixed nn.state of each nn.constant whose elements differ and are more than 1,024, with
/// its values in `weights`: one for all constants of equal values. Dimensions along which the
/// values repeat are stored once, so that a mask alike for all samples does not grow with the
/// batch: elementwise readers repeat them, and nn.broadcast does for others.
void storeLargeConstants(mlir::Block &block, WeightsFile &weights);

} // namespace syncline::frontend
