// What PyTorch's exporter writes beside the graph: which initialisers are parameters, and of which
// call each node was made.
#pragma once

#include "frontend/onnx/ModelFile.h"

#include "llvm/ADT/StringMap.h"

namespace onnx {
class NodeProto;
} // namespace onnx

namespace syncline::frontend {

/// What torch.onnx.export(..., dynamo=True) says of a file's floating-point initialisers. Empty for
/// files of other exporters.
struct TorchMarks {
  llvm::StringMap<std::string> kinds;     ///< "PARAMETER", "BUFFER", ...
  llvm::StringMap<std::string> originals; ///< parameters' names in the traced graph: "p_fc_weight"
};

TorchMarks readMarks(const ModelFile &file);

/// How a file is exported whose parameters are all in place.
inline const std::string howToExport =
    "to train the model itself, export it with torch.onnx.export(model, x, f, dynamo=True, "
    "optimize=False)";

/// The call of PyTorch's that a node was made of. Empty where the exporter does not say.
struct TorchCall {
  std::string function;                ///< "linear"
  std::vector<std::string> arguments;  ///< values by their names in the traced graph: "p_fc_weight"
  std::vector<std::string> parameters; ///< those that the arguments have, in lists too

  bool isBatchNormalization() const;
  /// Whether it is a batch normalization in training mode, one that has running statistics.
  bool trainsBatchNormalization() const;
  /// The argument that operand `k`, a weight or bias, stands for; "" where that is not known.
  std::string argumentOf(const onnx::NodeProto &node, int k) const;
};

TorchCall callOf(const onnx::NodeProto &node);

/// The path of the module that the node was made in, "layers.1.norm"; "" for the model itself, and
/// where the exporter does not say.
std::string moduleOf(const onnx::NodeProto &node);

/// Whether operand `k` of the node is known to be no parameter: the ones and zeros of a GroupNorm's
/// InstanceNormalization, or the zeros that a recurrent layer starts from.
bool isNumbers(const onnx::NodeProto &node, const TorchCall &call, int k);

/// Whether a name of the traced graph is a parameter's.
bool isTorchParameter(llvm::StringRef name);

/// Whether operand `k` of the node, which was made of `call`, is a weight or bias: a tensor of the
/// file is a parameter there, whatever its name.
bool isWeight(const onnx::NodeProto &node, const TorchCall &call, int k);

} // namespace syncline::frontend
