// Places parameters that PyTorch's optimizer folded into other tensors.
#pragma once

#include "frontend/onnx/GraphIndex.h"
#include "frontend/onnx/Notes.h"
#include "frontend/onnx/ParameterList.h"

namespace syncline::frontend {

/// Adds parameters to index.folded: at the first node that was made of a call with the parameter,
/// or else at the first one of its module, or of the module around that, that reads a tensor made
/// by the exporter. A note names them. Returns those that have no such node.
std::vector<const ListedParameter *>
placeFolded(const ModelFile &file, const std::vector<const ListedParameter *> &parameters,
            GraphIndex &index, Notes &notes);

} // namespace syncline::frontend
