// Finds buffers by what the exporter says of them and by what reads them.
#include "frontend/onnx/Buffers.h"

#include "frontend/onnx/ConstantTensor.h"
#include "frontend/onnx/ElementType.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include "onnx/onnx_pb.h"

#include <google/protobuf/unknown_field_set.h>

using namespace syncline;
using namespace syncline::frontend;

/// Nodes on larger buffers are not computed at import, so that their values stay out of the IR.
static constexpr std::int64_t largestKnown = 1024;

/// What a message's properties say under `key`, "" where they do not. They are a field of
/// ValueInfoProto and NodeProto since IR version 10, which the installed library does not know.
static std::string propertyOf(const google::protobuf::UnknownFieldSet &fields, int number,
                              llvm::StringRef key) {
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField &field = fields.field(i);
    onnx::StringStringEntryProto entry;
    if (field.number() == number &&
        field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED &&
        entry.ParseFromString(field.length_delimited()) && entry.key() == key)
      return entry.value();
  }
  return "";
}

static std::string propertyOf(const onnx::ValueInfoProto &value, llvm::StringRef key) {
  return propertyOf(value.unknown_fields(), 4, key);
}

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

/// What PyTorch's exporter says of a file's floating-point initialisers.
struct Marks {
  llvm::StringMap<std::string> kinds;     ///< "PARAMETER", "BUFFER", ...
  llvm::StringMap<std::string> originals; ///< parameters' names in the traced graph
};

static Marks readMarks(const ModelFile &file, const GraphIndex &index) {
  Marks marks;
  for (const onnx::ValueInfoProto &value : file.model->graph().value_info()) {
    if (!isFloat(index, value.name()))
      continue;
    const std::string kind = propertyOf(value, "pkg.torch.export.graph_signature.InputSpec.kind");
    if (kind.empty())
      continue;
    marks.kinds[value.name()] = kind;
    if (kind == "PARAMETER")
      marks.originals[value.name()] = propertyOf(value, "pkg.torch.onnx.original_node_name");
  }
  return marks;
}

/// Marked buffers, and numbers that the exporter made tensors of, are not trained. Returns the
/// larger tensors that are neither parameters nor buffers, as folding constants leaves them.
static std::vector<std::string> findMarked(const Marks &marks, GraphIndex &index) {
  std::vector<std::string> folded;
  for (const auto &[name, tensor] : index.initializers) {
    const std::string kind = marks.kinds.lookup(name);
    if (marks.kinds.empty() || kind == "PARAMETER" || !isFloat(index, name.str()))
      continue;
    const std::int64_t count = elementsOf(*tensor);
    if (kind.empty() && count > 1 && index.uses.count(name))
      folded.push_back(name.str());
    index.buffers[name] = count <= largestKnown;
  }
  llvm::sort(folded);
  return folded;
}

/// Whether `text` has %`name` as a whole word.
static bool mentions(llvm::StringRef text, const std::string &name) {
  const std::string word = "%" + name;
  for (size_t at = text.find(word); at != llvm::StringRef::npos; at = text.find(word, at + 1)) {
    const llvm::StringRef rest = text.drop_front(at + word.size());
    if (rest.empty() || !(llvm::isAlnum(rest[0]) || rest[0] == '_'))
      return true;
  }
  return false;
}

/// Parameters that a node reads in place of another one, since both began with equal values.
static std::vector<std::string> findMerged(const ModelFile &file, const Marks &marks,
                                           const GraphIndex &index) {
  constexpr int metadataProps = 9;
  std::vector<std::string> merged;
  llvm::StringSet<> found;
  for (const int i : index.order) {
    const onnx::NodeProto &node = file.model->graph().node(i);
    const std::string traced =
        propertyOf(node.unknown_fields(), metadataProps, "pkg.torch.onnx.fx_node");
    for (const std::string &name : node.input()) {
      const std::string original = marks.originals.lookup(name);
      if (!original.empty() && llvm::StringRef(traced).contains("%p_") &&
          !mentions(traced, original) && found.insert(name).second)
        merged.push_back(name);
    }
  }
  return merged;
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
static llvm::StringSet<> withDerivative(const onnx::GraphProto &graph, const GraphIndex &index) {
  llvm::StringSet<> values;
  values.insert(index.output->name());
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

static void findAngles(const ModelFile &file, const Marks &marks, GraphIndex &index, Notes &notes) {
  const onnx::GraphProto &graph = file.model->graph();
  const llvm::StringSet<> computed = fromInputs(graph, index),
                          derived = withDerivative(graph, index);
  Sources sources(graph, index);
  for (const int i : index.order) {
    const onnx::NodeProto &node = graph.node(i);
    if (!isCosineOrSine(node) || node.input_size() != 1 || computed.contains(node.input(0)))
      continue;
    for (const std::string &name : sources.of(node.input(0))) {
      if (elementsOf(*index.initializers.lookup(name)) > maxConstantElements ||
          marks.kinds.lookup(name) == "PARAMETER" ||
          (!index.buffers.count(name) && derived.contains(name)))
        continue;
      if (index.buffers.try_emplace(name, true).second)
        notes.add("not trained, since cosines and sines have no derivative here", name);
      index.buffers[name] = true;
    }
  }
}

std::string frontend::findBuffers(const ModelFile &file, GraphIndex &index, Notes &notes) {
  const Marks marks = readMarks(file, index);
  const std::vector<std::string> folded = findMarked(marks, index);
  const std::vector<std::string> merged = findMerged(file, marks, index);
  findAngles(file, marks, index, notes);
  if (folded.empty() && merged.empty())
    return "";
  std::string text = "this file was exported with optimize=True, PyTorch's default, which ";
  if (!folded.empty())
    text += "makes tensors that cannot be told from parameters (" + listNames(folded) + ")";
  if (!merged.empty())
    text += std::string(folded.empty() ? "" : " and ") +
            "makes one of parameters that begin with equal values (" + listNames(merged) + ")";
  return text + "; to train the model, export it with torch.onnx.export(model, x, f, dynamo=True, "
                "optimize=False)";
}
