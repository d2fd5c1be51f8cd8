// Finds buffers by what the exporter says of them and by what reads them.
#include "frontend/onnx/Buffers.h"

#include "frontend/onnx/ConstantTensor.h"
#include "frontend/onnx/ElementType.h"
#include "frontend/onnx/TorchMarks.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

#include "onnx/onnx_pb.h"

using namespace syncline;
using namespace syncline::frontend;

/// Nodes on larger buffers are not computed at import, so that their values stay out of the IR.
static constexpr std::int64_t largestKnown = 1024;

static bool isFloat(const GraphIndex &index, const std::string &name) {
  const auto place = index.initializers.find(name);
  return place != index.initializers.end() && isFloatElement(place->second->data_type());
}

static std::int64_t elementsOf(const onnx::TensorProto &tensor) {
  std::int64_t count = 1;
  for (const std::int64_t size : tensor.dims())
    count = size < 0 || size > maxConstantElements
                ? maxConstantElements + 1
                : std::min(count * size, maxConstantElements + 1);
  return count;
}

namespace {

/// What the graph's nodes say of initialisers that the exporter has not marked.
struct Unmarked {
  bool isWeight = true; ///< wherever a node reads it
  bool isNumbers = true;
};

} // namespace

/// The initialisers that the exporter has not marked, as folding constants leaves them.
static llvm::StringMap<Unmarked> findUnmarked(const ModelFile &file, const TorchMarks &marks,
                                              const GraphIndex &index) {
  llvm::StringMap<Unmarked> unmarked;
  for (const int i : index.order) {
    const onnx::NodeProto &node = file.model->graph().node(i);
    const TorchCall call = callOf(node);
    for (int k = 0; k < node.input_size(); ++k) {
      const std::string &name = node.input(k);
      if (!isFloat(index, name) || marks.kinds.count(name))
        continue;
      Unmarked &found = unmarked[name];
      found.isWeight &= isWeight(node, call, k);
      found.isNumbers &= isNumbers(node, call, k);
    }
  }
  return unmarked;
}

/// Where a list names the file's parameters, all other tensors are buffers.
static void findUnlisted(const ModelFile &file, GraphIndex &index) {
  llvm::StringSet<> hasListedName; // behind an Identity
  for (const onnx::NodeProto &node : file.model->graph().node())
    if (node.op_type() == "Identity" && node.input_size() == 1 && node.output_size() == 1 &&
        index.listed->contains(node.output(0)))
      hasListedName.insert(node.input(0));
  for (const auto &tensor : file.initializers)
    if (const std::string &name = tensor->name();
        isFloat(index, name) && !index.listed->contains(name))
      index.buffers[name] = elementsOf(*tensor) <= largestKnown && !hasListedName.contains(name);
}

static std::uint64_t bytesOf(const onnx::TensorProto &tensor) {
  std::uint64_t bytes = sizeof(float); // as the step holds it
  for (const std::int64_t size : tensor.dims())
    bytes = llvm::SaturatingMultiply<std::uint64_t>(bytes, std::max<std::int64_t>(size, 0));
  return bytes;
}

/// Marked buffers, and numbers that the exporter made tensors of, are not trained. Unmarked weights
/// are. Returns the other tensors, of which it is not known, less those that are frozen.
static std::vector<std::string> findMarked(const ModelFile &file, const TorchMarks &marks,
                                           GraphIndex &index, StoredTensors &stored, Notes &notes) {
  std::vector<std::string> doubtful;
  if (marks.kinds.empty())
    return doubtful;
  const llvm::StringMap<Unmarked> unmarked = findUnmarked(file, marks, index);
  for (const auto &tensor : file.initializers) {
    const std::string &name = tensor->name();
    const std::string kind = marks.kinds.lookup(name);
    if (kind == "PARAMETER")
      index.parameters.insert(name);
    if (kind == "PARAMETER" || !isFloat(index, name))
      continue;
    const std::int64_t count = elementsOf(*tensor);
    const auto place = unmarked.find(name);
    if (place != unmarked.end() && place->second.isWeight) {
      notes.add("trained as a parameter, since it is a weight, though the exporter made it", name);
      continue;
    }
    if (place != unmarked.end() && count > 1 && !place->second.isNumbers && !stored.isFrozen(name))
      doubtful.push_back("'" + name + "' (" + std::to_string(bytesOf(*tensor)) + " B)");
    index.buffers[name] = count <= largestKnown;
  }
  return doubtful;
}

/// Notes what PyTorch's optimizer left out of the file: normalizations that it folded into
/// convolutions, and parameters that begin with zeros.
static void noteMissing(const ModelFile &file, const TorchMarks &marks, const GraphIndex &index,
                        Notes &notes) {
  llvm::StringSet<> present, missing;
  for (const auto &original : marks.originals)
    present.insert(original.getValue());
  std::vector<std::string> order;
  for (const int i : index.order) {
    const onnx::NodeProto &node = file.model->graph().node(i);
    const TorchCall call = callOf(node);
    const bool isFolded = call.isBatchNormalization() && node.op_type() != "BatchNormalization";
    for (int k = 0; k < node.input_size() && !isFolded; ++k)
      if (isFloat(index, node.input(k)))
        present.insert(call.argumentOf(node, k));
    for (const std::string &parameter : call.parameters)
      if (missing.insert(parameter).second)
        order.push_back(parameter);
  }
  for (const std::string &parameter : order)
    if (!present.contains(parameter))
      notes.add("this file was exported with optimize=True, PyTorch's default, which folded these "
                "parameters into others or left them out; what is planned and trained is the "
                "network without them; " +
                    howToExport,
                parameter.substr(2));
}

static bool isCosineOrSine(const onnx::NodeProto &node) {
  return node.op_type() == "Cos" || node.op_type() == "Sin";
}

/// Whether the node's results depend on its operands' shapes alone.
static bool readsShapes(const onnx::NodeProto &node) {
  return node.op_type() == "Shape" || node.op_type() == "Size";
}

/// The values that are computed from an input of the model.
static llvm::StringSet<> fromInputs(const onnx::GraphProto &graph, const GraphIndex &index) {
  llvm::StringSet<> values;
  for (const onnx::ValueInfoProto *input : index.inputs)
    values.insert(input->name());
  for (const int i : index.order)
    if (const onnx::NodeProto &node = graph.node(i);
        !readsShapes(node) &&
        llvm::any_of(node.input(), [&](const std::string &name) { return values.contains(name); }))
      values.insert(node.output().begin(), node.output().end());
  return values;
}

/// The values from which the output is computed by a way that has no cosine and no sine.
static llvm::StringSet<> beyondAngles(const onnx::GraphProto &graph, const GraphIndex &index) {
  llvm::StringSet<> values;
  for (const LossOutput &output : index.outputs)
    values.insert(output.value->name());
  for (const int i : llvm::reverse(index.order))
    if (const onnx::NodeProto &node = graph.node(i);
        !isCosineOrSine(node) && !readsShapes(node) &&
        llvm::any_of(node.output(), [&](const std::string &name) { return values.contains(name); }))
      values.insert(node.input().begin(), node.input().end());
  return values;
}

namespace {

/// The floating-point initialisers that values are computed from. What only a shape is computed
/// from does not count.
class Sources {
public:
  Sources(const onnx::GraphProto &graph, const GraphIndex &index) : graph(graph), index(index) {}

  /// Those of this value that were not found for one before it.
  std::vector<std::string> of(const std::string &value) {
    std::vector<std::string> pending{value}, found;
    while (!pending.empty()) {
      const std::string name = std::move(pending.back());
      pending.pop_back();
      if (name.empty() || !seen.insert(name).second)
        continue;
      if (isFloat(index, name))
        found.push_back(name);
      const auto producer = index.producers.find(name);
      if (producer == index.producers.end())
        continue;
      const onnx::NodeProto &node = graph.node(producer->second);
      if (!readsShapes(node))
        pending.insert(pending.end(), node.input().begin(), node.input().end());
    }
    return found;
  }

private:
  const onnx::GraphProto &graph;
  const GraphIndex &index;
  llvm::StringSet<> seen;
};

} // namespace

static void findAngles(const ModelFile &file, const TorchMarks &marks, GraphIndex &index,
                       Notes &notes) {
  const onnx::GraphProto &graph = file.model->graph();
  const llvm::StringSet<> computed = fromInputs(graph, index), read = beyondAngles(graph, index);
  Sources sources(graph, index);
  for (const int i : index.order) {
    const onnx::NodeProto &node = graph.node(i);
    if (!isCosineOrSine(node) || node.input_size() != 1 || computed.contains(node.input(0)))
      continue;
    for (const std::string &name : sources.of(node.input(0))) {
      if ((index.listed ? index.listed->contains(name) : marks.kinds.lookup(name) == "PARAMETER") ||
          (!index.buffers.count(name) && read.contains(name)))
        continue;
      const bool isKnown = elementsOf(*index.initializers.lookup(name)) <= maxConstantElements;
      if (index.buffers.try_emplace(name, isKnown).second)
        notes.add("not trained, since only cosines and sines are computed from it, as from "
                  "positions; '--parameters FILE' says what is trained",
                  name);
      index.buffers[name] |= isKnown;
    }
  }
}

Status frontend::findBuffers(const ModelFile &file, GraphIndex &index, StoredTensors &stored,
                             Notes &notes) {
  const TorchMarks marks = readMarks(file);
  std::vector<std::string> doubtful;
  if (index.listed)
    findUnlisted(file, index);
  else
    doubtful = findMarked(file, marks, index, stored, notes);
  findAngles(file, marks, index, notes);
  if (!doubtful.empty())
    return Status::badInput("this file was exported with optimize=True, PyTorch's default, which "
                            "makes tensors that cannot be told from parameters: " +
                            llvm::join(doubtful, ", ") +
                            "; '--freeze NAME' says that one is not trained, '--parameters FILE' "
                            "which ones are; " +
                            howToExport);
  if (!index.listed)
    noteMissing(file, marks, index, notes);
  return Status::ok();
}
