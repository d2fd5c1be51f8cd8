// Tells initialisers that PyTorch calls buffers from parameters.
#pragma once

#include "frontend/onnx/GraphIndex.h"
#include "frontend/onnx/Notes.h"
#include "frontend/onnx/StoredTensors.h"

namespace syncline::frontend {

/// Fills index.buffers with the floating-point initialisers that are not trained:
/// - those that the file says are buffers, as torch.onnx.export(..., dynamo=True) writes;
/// - those of which, without an input, only cosines and sines are computed: the angles of rotary
///   positions. Notes name these. What the file calls a parameter stays one;
/// - where index.listed says which tensors are parameters, all others;
/// - of a file that says so of some, those of which it says nothing, unless they are weights. These
///   come from folding constants. badInput where they are neither weights, numbers nor frozen: they
///   may be parameters or constants such as masks.
/// A note names parameters that PyTorch's optimizer left out of the file.
Status findBuffers(const ModelFile &file, GraphIndex &index, StoredTensors &stored, Notes &notes);

} // namespace syncline::frontend
