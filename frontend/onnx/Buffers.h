// Tells initialisers that PyTorch calls buffers from parameters.
#pragma once

#include "frontend/onnx/GraphIndex.h"
#include "frontend/onnx/Notes.h"

namespace syncline::frontend {

/// Fills index.buffers with the floating-point initialisers that are not trained:
/// - those that the file says are buffers, as torch.onnx.export(..., dynamo=True) writes;
/// - those that only cosines and sines are computed from, which have no derivative here: the
///   angles of rotary positions. Notes name these.
void findBuffers(const ModelFile &file, GraphIndex &index, Notes &notes);

} // namespace syncline::frontend
