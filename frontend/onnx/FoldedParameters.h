// Places parameters that PyTorch's optimizer folded into other tensors.
#pragma once

#include "frontend/onnx/GraphIndex.h"
#include "frontend/onnx/Notes.h"
#include "frontend/onnx/ParameterList.h"

namespace syncline::frontend {

/// Adds each parameter to index.folded: at the first node that was made of a call with it, or else
/// at the first one of the nearest module. A note names them. False where no node says of which
/// call it was made.
bool placeFolded(const onnx::GraphProto &graph,
                 const std::vector<const ListedParameter *> &parameters, GraphIndex &index,
                 Notes &notes);

} // namespace syncline::frontend
