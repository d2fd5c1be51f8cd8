// Visiting all tensors of a model.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

namespace onnx {
class ModelProto;
class TensorProto;
} // namespace onnx

namespace syncline::frontend {

/// Calls `visit` for each initialiser and each tensor of an attribute. Subgraphs and functions are
/// part of the model.
void forEachTensor(onnx::ModelProto &model, llvm::function_ref<void(onnx::TensorProto &)> visit);

} // namespace syncline::frontend
