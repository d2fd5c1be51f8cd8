// Files that an exporter prepared for inference: layers that training needs are folded into others.
#pragma once

#include "frontend/onnx/GraphIndex.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace syncline::frontend {

/// Whether PyTorch's exporter made up this name for values that it computed itself:
/// "onnx::Conv_501". What it takes from the module keeps the module's name.
bool isComputedName(llvm::StringRef name);

/// How a file is exported by tracing whose parameters are all in place.
inline const std::string howToTrace =
    "to train the model itself, export it with torch.onnx.export(model, x, f, "
    "training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False)";

/// One sentence where weights of the nodes that the output needs are computed by PyTorch's
/// exporter: which layers are folded away, and the export that keeps them. BatchNormalization is
/// folded into a convolution where weight and bias both are (a network without normalisation keeps
/// its names); other weights are copies, such as the transposed ones of linear layers.
std::optional<std::string> noteInferenceExport(const ModelFile &file, const GraphIndex &index);

} // namespace syncline::frontend
