// Recognises exports for inference by the names of their weights.
#include "frontend/onnx/InferenceExport.h"

#include "frontend/onnx/Notes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include "onnx/onnx_pb.h"

using namespace syncline;
using namespace syncline::frontend;

bool frontend::isComputedName(llvm::StringRef name) {
  if (!name.consume_front("onnx::"))
    return false;
  const auto [op, number] = name.rsplit('_');
  return !op.empty() && !number.empty() && llvm::all_of(number, llvm::isDigit);
}

namespace {

/// Looks at nodes in the graph's order.
class Weights {
public:
  explicit Weights(const GraphIndex &index) : index(index) {}

  /// Whether operand `i` is a matrix, or larger, that the exporter computed.
  bool isComputed(const onnx::NodeProto &node, int i) const {
    if (i >= node.input_size())
      return false;
    const onnx::TensorProto *weight = of(node.input(i));
    return weight && weight->dims_size() >= 2 && isComputedName(weight->name());
  }

  /// Whether operand 2, a bias, is one that the exporter computed.
  bool hasComputedBias(const onnx::NodeProto &node) const {
    if (node.input_size() < 3)
      return false;
    const onnx::TensorProto *bias = of(node.input(2));
    return bias && (isComputedName(bias->name()) || isComputedName(node.input(2)));
  }

  /// Remembers what the result of an Identity stands for.
  void follow(const onnx::NodeProto &node) {
    if (node.op_type() == "Identity" && node.input_size() == 1 && node.output_size() == 1)
      if (const onnx::TensorProto *weight = of(node.input(0)))
        others[node.output(0)] = weight;
  }

private:
  /// The initialiser that a name stands for, behind any Identity; null for other values.
  const onnx::TensorProto *of(const std::string &name) const {
    const onnx::TensorProto *weight = others.lookup(name);
    return weight ? weight : index.initializers.lookup(name);
  }

  const GraphIndex &index;
  llvm::StringMap<const onnx::TensorProto *> others; ///< by the names behind Identities
};

} // namespace

static bool hasWeights(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU", "RNN", true)
      .Default(false);
}

std::optional<std::string> frontend::noteInferenceExport(const ModelFile &file,
                                                         const GraphIndex &index) {
  const onnx::GraphProto &graph = file.model->graph();
  Weights weights(index);
  int convolutions = 0;
  std::vector<std::string> copies; // nodes whose weight is one
  for (int i : index.order) {
    const onnx::NodeProto &node = graph.node(i);
    weights.follow(node);
    if (!hasWeights(node.op_type()))
      continue;
    const bool isConvolution = llvm::StringRef(node.op_type()).starts_with("Conv");
    if (!weights.isComputed(node, 1) && (isConvolution || !weights.isComputed(node, 0)))
      continue;
    if (isConvolution && weights.hasComputedBias(node))
      ++convolutions;
    else
      copies.push_back(index.layers[i]);
  }
  if (convolutions == 0 && copies.empty())
    return std::nullopt;
  std::string text = "this file was exported for inference (";
  if (convolutions > 0)
    text += "BatchNormalization is folded into " + std::to_string(convolutions) +
            (convolutions == 1 ? " convolution" : " convolutions");
  if (!copies.empty())
    text += (convolutions > 0 ? "; " : "") + std::string("the weights of ") + listNames(copies) +
            " are copies without their names";
  return text +
         "): what is planned and trained is that network, with what Dropout is left in it; " +
         howToTrace;
}
