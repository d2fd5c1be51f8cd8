// Imports a model's shapes and makes layers of its nodes and parameters.
#include "frontend/onnx/ImportLayers.h"

#include "frontend/onnx/ElementType.h"
#include "frontend/onnx/ImportGraph.h"
#include "frontend/onnx/ImportNodes.h"
#include "frontend/onnx/LayerWork.h"

#include "llvm/ADT/StringSet.h"

#include "onnx/onnx_pb.h"

#include <algorithm>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

namespace {

class Layers {
public:
  Layers(ImportGraph &graph, const onnx::GraphProto &proto)
      : graph(graph), values(graph.values()), proto(proto) {}

  Status build() {
    for (int i : graph.index.order) {
      SYNCLINE_TRY(checkQuantised(i));
      follow(i);
    }
    for (const std::string &layer : graph.index.layers)
      taken.insert(layer);
    for (int i : graph.index.order) {
      if (computes(i))
        add(i);
      addFolded(i);
    }
    if (!values.status)
      return values.status;
    SYNCLINE_TRY(graph.stored().checkFrozen());
    const auto reachesParameters = [&](const LossOutput &output) {
      return isGradientWanted(output.value->name());
    };
    if (placedParameters.empty() || !llvm::any_of(graph.index.outputs, reachesParameters))
      return Status::badInput("no parameter that could be trained reaches the output");
    addLoss();
    return Status::ok();
  }

  /// The parameters that have a layer.
  const llvm::StringSet<> &placed() const { return placedParameters; }

  std::vector<ModelLayer> layers;

private:
  const onnx::NodeProto &node(int i) const { return proto.node(i); }

  bool computes(int i) {
    return std::ranges::any_of(node(i).output(), [&](const std::string &name) {
      return !name.empty() && values.isComputed(name) && !parameters.count(name);
    });
  }

  /// The computed value that a name, which may be another name for it, stands for. A name of a
  /// stored tensor stays as it is: behind an Identity it may be a parameter of its own.
  std::string valueOf(const std::string &name) {
    return values.isStored(name) ? name : values.rootOf(name);
  }

  bool isGradientWanted(const std::string &name) { return needsGradient.contains(valueOf(name)); }

  /// The trained parameter that a name stands for; empty for other values.
  std::string parameterOf(const std::string &used) {
    const std::string name = valueOf(used);
    if (auto copy = graph.index.copies.find(name); copy != graph.index.copies.end())
      return parameterOf(copy->second);
    if (auto place = parameters.find(name); place != parameters.end())
      return place->second;
    if (!values.isStored(name))
      return {};
    Value value = values.tensor(name);
    auto parameter = value ? value.getDefiningOp<nn::ParameterOp>() : nn::ParameterOp();
    return parameters[name] = parameter ? parameter.getName().str() : std::string();
  }

  /// The name of operand `k` of node `i`. A sequence is no tensor: its parts are taken out of what
  /// was split.
  const std::string &operandName(int i, unsigned k) const {
    const std::string &name = node(i).input(static_cast<int>(k));
    const auto producer = graph.index.producers.find(name);
    const bool isPart = node(i).op_type() == "SequenceAt" && k == 0;
    return isPart && producer != graph.index.producers.end() &&
                   node(producer->second).op_type() == "SplitToSequence"
               ? node(producer->second).input(0)
               : name;
  }

  /// The trained parameter that operand `k` of node `i` is; empty for other values, and for numbers
  /// that the node takes for settings.
  std::string parameterAt(int i, unsigned k) {
    const std::string &name = operandName(i, k);
    return name.empty() || isNumber(i, k) ? std::string() : parameterOf(name);
  }

  /// How many operands node `i` computes with: those behind them are settings, unless one is a
  /// parameter where a number is expected.
  unsigned dataOf(int i) {
    const std::string &op = node(i).op_type();
    const auto all = static_cast<unsigned>(node(i).input_size());
    unsigned data = std::min(dataOperands(op), all);
    for (unsigned k = data; k < all && (op == "Pow" || op == "Clip"); ++k)
      if (const std::string &name = operandName(i, k); !name.empty() && values.isParameter(name))
        data = k + 1;
    return data;
  }

  /// Whether the operand is a number and no weight: a bound of Max or Min, a summand that Gemm
  /// multiplies by zero, or the ones and zeros of an InstanceNormalization over groups. Exporters
  /// multiply and add a GroupNorm's parameters behind it.
  bool isNumber(int i, unsigned k) {
    const std::string &op = node(i).op_type(), &name = node(i).input(static_cast<int>(k));
    if (!values.isStored(name))
      return false;
    if (op == "Max" || op == "Min")
      return !values.isParameter(name);
    if (op == "Gemm" && k == 2)
      return NodeImport(graph.state(), node(i), graph.index.layers[i]).real("beta", 1) == 0;
    if (op != "InstanceNormalization" || k == 0)
      return false;
    const auto producer = graph.index.producers.find(values.rootOf(node(i).input(0)));
    if (producer == graph.index.producers.end() || node(producer->second).op_type() != "Reshape")
      return false;
    const ConstantTensor *known = values.constant(name);
    return known &&
           std::ranges::all_of(known->reals, [&](double x) { return x == (k == 1 ? 1 : 0); });
  }

  /// Refuses integers that stand for trained weights, as quantised models have them.
  Status checkQuantised(int i) {
    const llvm::StringRef op = node(i).op_type();
    if (op != "DequantizeLinear" && !op.starts_with("QLinear") && !op.ends_with("Integer"))
      return Status::ok();
    const int data = op == "DequantizeLinear" ? 1 : node(i).input_size();
    for (int k = 0; k < data; ++k) {
      const std::string &name = node(i).input(k);
      RankedTensorType type = name.empty() ? RankedTensorType() : values.typeOf(name);
      if (!type || !isa<IntegerType>(type.getElementType()) || type.getNumElements() == 1 ||
          values.isComputed(values.rootOf(name)))
        continue;
      const auto bytes = static_cast<std::int64_t>(NodeTensor{.type = type}.bytes());
      return Status::badInput(describeNode(node(i)) + ": expected floating-point weights, got '" +
                              name + "', " + std::to_string(bytes) +
                              " B of quantised ones, which have no gradient; plan the model as it "
                              "was before it was quantised");
    }
    return Status::ok();
  }

  /// Finds out which results are reshaped parameters and which need gradients, and counts how often
  /// nodes compute with each parameter.
  void follow(int i) {
    bool needs = false;
    std::string parameter;
    const unsigned data = dataOf(i);
    for (unsigned k = 0; k < data; ++k) {
      const std::string &name = operandName(i, k);
      if (name.empty())
        continue;
      parameter = parameterAt(i, k);
      needs |= !parameter.empty() || isGradientWanted(name);
    }
    const bool isQuantised = node(i).op_type() == "QuantizeLinear"; // the gradient goes through
    const bool isShape = isView(node(i).op_type()) || node(i).op_type() == "Transpose";
    for (const std::string &name : node(i).output()) {
      if (!needs || name.empty() || !values.isComputed(name))
        continue;
      RankedTensorType type = values.typeOf(name);
      if (!type || !(isQuantised || isa<FloatType>(type.getElementType())))
        continue;
      needsGradient.insert(name);
      if (isShape && data == 1 && !parameter.empty())
        parameters[name] = parameter;
    }
    if (!isShape && computes(i))
      for (unsigned k = 0; k < data; ++k)
        if (const std::string name = parameterAt(i, k); !name.empty())
          ++uses[name];
  }

  NodeTensor tensorOf(const std::string &name) {
    NodeTensor tensor;
    if (name.empty())
      return tensor;
    tensor.type = values.typeOf(name);
    tensor.isTrained = !parameterOf(name).empty();
    tensor.needsGradient = tensor.isTrained || isGradientWanted(name);
    return tensor;
  }

  NodeTensors tensorsOf(int i) {
    NodeTensors tensors;
    const unsigned data = dataOf(i);
    for (unsigned k = 0; k < data; ++k) {
      NodeTensor operand = tensorOf(operandName(i, k));
      if (operand.isTrained && parameterAt(i, k).empty())
        operand.isTrained = operand.needsGradient = false;
      tensors.operands.push_back(operand);
    }
    for (const std::string &name : node(i).output())
      tensors.results.push_back(values.isComputed(name) ? tensorOf(name) : NodeTensor());
    tensors.isAlone = node(i).input_size() > 0 && isMadeInPasses(node(i).input(0));
    return tensors;
  }

  /// Whether the name has one reader and is made by an operator that goes over its result element
  /// by element.
  bool isMadeInPasses(std::string name) {
    for (; !values.aliasOf(name).empty(); name = values.aliasOf(name))
      if (graph.index.uses.lookup(name) != 1)
        return false;
    auto producer = graph.index.producers.find(name);
    if (producer == graph.index.producers.end() || graph.index.uses.lookup(name) != 1)
      return false;
    const std::string &op = node(producer->second).op_type();
    return op == "Conv" || op == "Gemm" || op == "MatMul" || op == "BatchNormalization" ||
           isElementwise(op);
  }

  std::string unique(std::string name) {
    while (!taken.insert(name).second)
      name += "_";
    return name;
  }

  /// Adds the node's layer, then one for every parameter that no earlier node computes with. The
  /// largest parameter is last, so that its backward work comes first; it gets the time of all.
  void add(int i) {
    NodeImport import(graph.state(), node(i), graph.index.layers[i]);
    const NodeTensors tensors = tensorsOf(i);
    NodeWork work = workOf(import, tensors);
    ModelLayer layer{.name = graph.index.layers[i], .node = graph.index.layers[i]};
    layer.forward = std::move(work.forward);
    layer.backward = std::move(work.data);
    std::vector<ModelLayer> owned;
    for (unsigned k = 0; k < tensors.operands.size(); ++k) {
      if (!tensors.operands[k].isTrained)
        continue;
      const std::string name = parameterAt(i, k);
      if (!placedParameters.insert(name).second)
        continue;
      ModelLayer parameter{.name = unique(name), .node = layer.node};
      parameter.bytes = static_cast<std::int64_t>(tensors.operands[k].bytes());
      parameter.elements = static_cast<std::int64_t>(tensors.operands[k].elements());
      noteElements(name, tensors.operands[k].type.getElementType());
      if (k == 1 && uses[name] == 1)
        parameter.factors = work.factors;
      owned.push_back(std::move(parameter));
    }
    std::ranges::stable_sort(owned, {}, &ModelLayer::bytes);
    std::vector<Work> &weights = owned.empty() ? layer.backward : owned.back().backward;
    weights.insert(weights.begin(), work.weights.begin(), work.weights.end());
    layers.push_back(std::move(layer));
    layers.insert(layers.end(), owned.begin(), owned.end());
  }

  /// Adds the parameters that the exporter folded into what node `i` computes with.
  void addFolded(int i) {
    for (const FoldedParameter &folded : graph.index.folded) {
      if (folded.node != i)
        continue;
      placedParameters.insert(folded.name);
      ModelLayer parameter{.name = unique(folded.name), .node = graph.index.layers[i]};
      parameter.elements = folded.elements;
      parameter.bytes = 4 * folded.elements;
      layers.push_back(std::move(parameter));
    }
  }

  /// A step has float parameters alone: its gradients would be larger, or smaller, than these.
  void noteElements(const std::string &name, Type element) {
    const int type = elementNumber(element);
    if (!whyNotInStep(type).empty())
      graph.notes.add("planned with gradients of " + elementName(type) + ", " +
                          std::to_string(elementBytes(type)) +
                          " B an element, as the file stores it; training here takes float alone, "
                          "4 B",
                      name);
  }

  void addLoss() {
    const std::string name = unique("loss");
    ModelLayer loss{.name = name, .node = name};
    for (const LossOutput &each : graph.index.outputs)
      if (const NodeTensor output = tensorOf(each.value->name()); output.elements() > 1)
        loss.forward.push_back({6 * output.elements(), 2 * output.bytes()});
    if (!loss.forward.empty()) // otherwise the loss is inside
      layers.push_back(std::move(loss));
  }

  ImportGraph &graph;
  GraphValues &values;
  const onnx::GraphProto &proto;
  std::map<std::string, std::string> parameters; ///< name → parameter it stands for, or ""
  std::map<std::string, int> uses;               ///< parameter → nodes that compute with it
  llvm::StringSet<> needsGradient, placedParameters, taken;
};

Result<ModelLayers> layersOf(ModelFile &file, const ImportOptions &options, MLIRContext &context) {
  SYNCLINE_TRY_GET(graph, ImportGraph::begin(file, options, Purpose::layers, context));
  SYNCLINE_TRY(importNodes((*graph)->state(), Refused::haveShapes));
  Layers layers(**graph, file.model->graph());
  SYNCLINE_TRY(layers.build());
  Inventory inventory;
  std::vector<std::string> planned;
  for (const auto &parameter : layers.placed())
    planned.push_back(parameter.getKey().str());
  for (const ModelLayer &layer : layers.layers)
    if (layer.bytes > 0)
      inventory.add(layer.bytes);
  findLeftOut(file, **graph, planned, inventory);
  return ModelLayers{file.stem, (*graph)->bound.batch, std::move(layers.layers),
                     (*graph)->notes.lines(), std::move(inventory)};
}

} // namespace

Result<ModelLayers> frontend::importLayers(const std::string &path, const ImportOptions &options,
                                           MLIRContext &context) {
  context.loadDialect<nn::NNDialect>();
  return importNamed<ModelLayers>(path, options, Purpose::layers, [&](ModelFile &file) {
    return layersOf(file, options, context);
  });
}
