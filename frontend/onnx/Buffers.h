// Tells initialisers that PyTorch calls buffers from parameters.
#pragma once

#include "frontend/onnx/GraphIndex.h"
#include "frontend/onnx/Notes.h"

namespace syncline::frontend {

/// Fills index.buffers with the floating-point initialisers that are not trained:
/// - those that the file says are buffers, as torch.onnx.export(..., dynamo=True) writes;
/// - those that only cosines and sines are computed from, which have no derivative here: the
///   angles of rotary positions. Notes name these. What the file calls a parameter stays one.
/// Returns why the file holds other tensors than the model's, as PyTorch's optimizer leaves them;
/// "" where it does not.
std::string findBuffers(const ModelFile &file, GraphIndex &index, Notes &notes);

} // namespace syncline::frontend
