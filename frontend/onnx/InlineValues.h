// Brings values that lie in files beside the model into the model itself.
#pragma once

#include "frontend/onnx/ExternalData.h"

namespace onnx {
class ModelProto;
}

namespace syncline::frontend {

/// Replaces references to external data, which name files in `folders`, by the values: those of
/// initialisers and of attributes, in subgraphs and functions too. Initialisers of the main graph
/// that are external and that nothing reads are left out. badInput names a tensor whose values
/// cannot be read.
Status inlineValues(onnx::ModelProto &model, const DataFolders &folders);

} // namespace syncline::frontend
