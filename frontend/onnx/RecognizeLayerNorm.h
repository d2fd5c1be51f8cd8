// Layer normalizations that an exporter has written as elementary operators.
#pragma once

#include "mlir/IR/Block.h"

namespace syncline::frontend {

/// Replaces scale·(x - mean)/sqrt(mean((x - mean)²) + epsilon), with a shift or without one, by
/// nn.layer_norm, where the means are over x's last dimensions and the scale has their shape.
/// Operations that lose their readers by it stay.
void recognizeLayerNorms(mlir::Block &block);

} // namespace syncline::frontend
