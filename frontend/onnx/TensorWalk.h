// Visiting all tensors of a model.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

namespace onnx {
class ModelProto;
class TensorProto;
} // namespace onnx

namespace syncline::frontend {

/// Calls `visit` for each initialiser and each tensor of an attribute, in subgraphs and functions
/// too.
void forEachTensor(onnx::ModelProto &model, llvm::function_ref<void(onnx::TensorProto &)> visit);

} // namespace syncline::frontend
