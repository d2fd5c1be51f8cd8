// Random numbers that a step draws anew: Bernoulli, RandomUniform(Like), RandomNormal(Like).
#pragma once

#include "frontend/onnx/OpTable.h"

namespace syncline::frontend {

/// Whether a RandomUniform or RandomNormal, whose shape the file fixes, is noise and no parameter
/// without values: nothing could be trained through its readers, or it has an entry for each sample
/// and its readers combine it with samples, element by element.
bool isNoise(const NodeImport &node);
mlir::LogicalResult importFixedNoise(NodeImport &node);

/// A comparison of uniform numbers with a known one, as ones with a probability; null for others.
mlir::Value createDrawn(NodeImport &node);

/// Gives all noise the numbers that it has in evaluation.
void replaceNoise(mlir::Block &block);

} // namespace syncline::frontend
