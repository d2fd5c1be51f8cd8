// Says of every initialiser that is not planned why that is.
#include "frontend/onnx/Inventory.h"

#include "frontend/onnx/ElementType.h"
#include "frontend/onnx/ImportGraph.h"

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

void frontend::findLeftOut(const ModelFile &file, ImportGraph &graph,
                           const std::vector<std::string> &planned, Inventory &inventory) {
  llvm::StringSet<> known;
  for (const std::string &name : planned) {
    known.insert(name);
    known.insert(graph.values().rootOf(name));
  }
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
