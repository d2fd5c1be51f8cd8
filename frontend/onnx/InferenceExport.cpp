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

/// The initialiser that a name stands for, behind any Identity; null for other values.
static const onnx::TensorProto *initializerOf(const onnx::GraphProto &graph,
                                              const GraphIndex &index, const std::string &name) {
  const std::string *at = &name;
  for (auto place = index.producers.find(*at); place != index.producers.end();
       place = index.producers.find(*at)) {
    const onnx::NodeProto &node = graph.node(place->second);
    if (node.op_type() != "Identity" || node.input_size() != 1)
      return nullptr;
    at = &node.input(0);
  }
  return index.initializers.lookup(*at);
}

/// Whether operand `i` is a matrix, or larger, that the exporter computed.
static bool isComputedWeight(const onnx::GraphProto &graph, const GraphIndex &index,
                             const onnx::NodeProto &node, int i) {
  if (i >= node.input_size())
    return false;
  const onnx::TensorProto *weight = initializerOf(graph, index, node.input(i));
  return weight && weight->dims_size() >= 2 && isComputedName(weight->name());
}

/// Whether operand 2, a bias, is one that the exporter computed.
static bool hasComputedBias(const onnx::GraphProto &graph, const GraphIndex &index,
                            const onnx::NodeProto &node) {
  if (node.input_size() < 3)
    return false;
  const onnx::TensorProto *bias = initializerOf(graph, index, node.input(2));
  return bias && (isComputedName(bias->name()) || isComputedName(node.input(2)));
}

static bool hasWeights(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU", "RNN", true)
      .Default(false);
}

std::optional<std::string> frontend::noteInferenceExport(const ModelFile &file,
                                                         const GraphIndex &index) {
  const onnx::GraphProto &graph = file.model->graph();
  int convolutions = 0;
  std::vector<std::string> copies; // nodes whose weight is one
  for (int i : index.order) {
    const onnx::NodeProto &node = graph.node(i);
    if (!hasWeights(node.op_type()))
      continue;
    const bool isConvolution = llvm::StringRef(node.op_type()).starts_with("Conv");
    if (!isComputedWeight(graph, index, node, 1) &&
        (isConvolution || !isComputedWeight(graph, index, node, 0)))
      continue;
    if (isConvolution && hasComputedBias(graph, index, node))
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
  return text + "): what is planned and trained is that network, with what Dropout is left in it; "
                "to train "
                "the model itself, export it with torch.onnx.export(model, x, f, "
                "training=torch.onnx.TrainingMode.TRAINING, "
                "do_constant_folding=False)";
}
