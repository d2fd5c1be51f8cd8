// Says of every initialiser that is not planned why that is.
#include "frontend/onnx/Inventory.h"

#include "frontend/onnx/ElementType.h"
#include "frontend/onnx/ImportGraph.h"
#include "frontend/onnx/TorchMarks.h"

#include "llvm/ADT/StringSet.h"

#include "onnx/onnx_pb.h"

#include <algorithm>

using namespace syncline;
using namespace syncline::frontend;

static std::int64_t tensorElements(const onnx::TensorProto &tensor) {
  std::int64_t count = 1;
  for (const std::int64_t size : tensor.dims())
    count *= size;
  return count;
}

static std::int64_t tensorBytes(const onnx::TensorProto &tensor) {
  const int type = tensor.data_type();
  const bool isHalf = type == onnx::TensorProto::FLOAT16 || type == onnx::TensorProto::BFLOAT16;
  return tensorElements(tensor) * (isHalf ? 2 : type == onnx::TensorProto::DOUBLE ? 8 : 4);
}

/// The tensors that batch normalisations keep their statistics in.
static llvm::StringSet<> statisticsOf(const ModelFile &file, ImportGraph &graph) {
  llvm::StringSet<> names;
  for (const int i : graph.index.order) {
    const onnx::NodeProto &node = file.model->graph().node(i);
    if (node.op_type() == "BatchNormalization")
      for (int k = 3; k < node.input_size() && k < 5; ++k)
        names.insert(graph.values().rootOf(node.input(k)));
  }
  return names;
}

/// The initialisers that a node reads as a weight or bias.
static llvm::StringSet<> weightsOf(const ModelFile &file, ImportGraph &graph) {
  llvm::StringSet<> names;
  for (const int i : graph.index.order) {
    const onnx::NodeProto &node = file.model->graph().node(i);
    const TorchCall call = callOf(node);
    for (int k = 0; k < node.input_size(); ++k)
      if (isWeight(node, call, k))
        names.insert(graph.values().rootOf(node.input(k)));
  }
  return names;
}

/// Whether PyTorch's layers have a parameter of this name: "fc.bias", "attention.in_proj_bias".
static bool isLayersName(llvm::StringRef name) {
  const llvm::StringRef last = name.substr(name.rfind('.') + 1);
  return last == "weight" || last == "bias" || last.starts_with("in_proj_");
}

/// Notes what is trained of PyTorch's file though it may be a buffer or a number, where neither the
/// file nor a list says which tensors are parameters.
static void noteDoubtful(const ModelFile &file, ImportGraph &graph,
                         const llvm::StringSet<> &planned) {
  if (file.model->producer_name() != "pytorch" || graph.index.listed ||
      !readMarks(file).kinds.empty())
    return;
  const llvm::StringSet<> weights = weightsOf(file, graph);
  std::vector<std::string> names;
  std::int64_t bytes = 0;
  for (const auto &tensor : file.initializers) {
    const std::string &name = tensor->name();
    const bool isNamed = isLayersName(name) && tensorElements(*tensor) > 1;
    if (!isFloatElement(tensor->data_type()) || !planned.contains(name) || weights.contains(name) ||
        isNamed)
      continue;
    names.push_back(name);
    bytes += tensorBytes(*tensor);
  }
  if (!names.empty())
    graph.notes.add(listNames(names) + ": trained as parameters, " + std::to_string(bytes) +
                    " B, though no node reads them as weights and the file does not say what they "
                    "are; '--freeze NAME' says that one is not trained, '--parameters FILE' which "
                    "ones are");
}

void frontend::findLeftOut(const ModelFile &file, ImportGraph &graph,
                           const std::vector<std::string> &planned, Inventory &inventory) {
  llvm::StringSet<> known;
  for (const std::string &name : planned) {
    known.insert(name);
    known.insert(graph.values().rootOf(name));
  }
  for (const auto &copy : graph.index.copies)
    known.insert(copy.getKey());
  noteDoubtful(file, graph, known);
  const llvm::StringSet<> statistics = statisticsOf(file, graph);
  const auto leaveOut = [&](const std::string &reason, const onnx::TensorProto &tensor) {
    auto same = std::ranges::find(inventory.leftOut, reason, &LeftOut::reason);
    if (same == inventory.leftOut.end())
      same = inventory.leftOut.insert(same, {reason, {}, 0});
    same->names.push_back(printable(tensor.name()));
    same->bytes += tensorBytes(tensor);
  };
  for (const auto &tensor : file.initializers) {
    const std::string &name = tensor->name();
    if (!isFloatElement(tensor->data_type()) || known.contains(name))
      continue;
    if (!graph.index.uses.count(name))
      leaveOut("the output does not need them", *tensor);
    else if (statistics.contains(name))
      leaveOut("running statistics", *tensor);
    else if (graph.stored().isFrozen(name))
      leaveOut("frozen", *tensor);
    else if (graph.index.listed)
      leaveOut("not listed as parameters", *tensor);
    else if (tensorElements(*tensor) > 1)
      leaveOut("buffers and constants", *tensor);
  }
}
