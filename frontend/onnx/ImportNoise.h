// Random numbers that a step draws anew: Bernoulli, RandomUniform(Like), RandomNormal(Like).
#pragma once

#include "frontend/onnx/OpTable.h"

namespace syncline::frontend {

/// Whether a RandomUniform or RandomNormal, whose shape the file fixes, is noise and no parameter
/// without values: uniform numbers that are only compared or rounded, as drop paths do, or numbers
/// of the samples' rank with an entry for each sample, which are added to samples or multiply them.
bool isNoise(const NodeImport &node);
mlir::LogicalResult importFixedNoise(NodeImport &node);

/// A comparison of uniform numbers with a known one, as ones with a probability; null for others.
mlir::Value createBernoulli(NodeImport &node);

/// Gives all noise the numbers that it has in evaluation.
void replaceNoise(mlir::Block &block);

} // namespace syncline::frontend
