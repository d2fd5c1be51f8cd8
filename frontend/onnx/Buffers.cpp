// Finds buffers by what the exporter says of them and by what reads them.
#include "frontend/onnx/Buffers.h"

#include "frontend/onnx/ConstantTensor.h"
#include "frontend/onnx/ElementType.h"

#include "llvm/ADT/StringSet.h"

#include "onnx/onnx_pb.h"

#include <google/protobuf/unknown_field_set.h>

using namespace syncline;
using namespace syncline::frontend;

/// Nodes on larger buffers are not computed at import, so that their values stay out of the IR.
static constexpr std::int64_t largestKnown = 1024;

/// What the properties of a value say under `key`, "" where they do not. They are the fourth field
/// of ValueInfoProto since IR version 10, which the installed library does not know.
static std::string propertyOf(const onnx::ValueInfoProto &value, llvm::StringRef key) {
  constexpr int metadataProps = 4;
  const google::protobuf::UnknownFieldSet &fields = value.unknown_fields();
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField &field = fields.field(i);
    onnx::StringStringEntryProto entry;
    if (field.number() == metadataProps &&
        field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED &&
        entry.ParseFromString(field.length_delimited()) && entry.key() == key)
      return entry.value();
  }
  return "";
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

static void findMarked(const ModelFile &file, GraphIndex &index) {
  for (const onnx::ValueInfoProto &value : file.model->graph().value_info()) {
    if (!isFloat(index, value.name()))
      continue;
    const std::string kind = propertyOf(value, "pkg.torch.export.graph_signature.InputSpec.kind");
    if (kind == "BUFFER" || kind == "CONSTANT_TENSOR")
      index.buffers[value.name()] =
          elementsOf(*index.initializers.lookup(value.name())) <= largestKnown;
  }
}

namespace {

/// The floating-point initialisers that a value is computed from. What only its shape is computed
/// from does not count.
class Sources {
public:
  Sources(const ModelFile &file, const GraphIndex &index)
      : graph(file.model->graph()), index(index) {
    for (const onnx::ValueInfoProto *input : index.inputs)
      inputs.insert(input->name());
  }

  /// Unset where the value is computed from an input of the model.
  std::optional<std::vector<std::string>> of(const std::string &value) {
    std::vector<std::string> pending{value}, found;
    llvm::StringSet<> seen;
    while (!pending.empty()) {
      const std::string name = std::move(pending.back());
      pending.pop_back();
      if (name.empty() || !seen.insert(name).second)
        continue;
      if (inputs.contains(name))
        return std::nullopt;
      if (isFloat(index, name))
        found.push_back(name);
      const auto producer = index.producers.find(name);
      if (producer == index.producers.end())
        continue;
      const onnx::NodeProto &node = graph.node(producer->second);
      if (node.op_type() != "Shape" && node.op_type() != "Size")
        pending.insert(pending.end(), node.input().begin(), node.input().end());
    }
    return found;
  }

private:
  const onnx::GraphProto &graph;
  const GraphIndex &index;
  llvm::StringSet<> inputs;
};

} // namespace

static void findAngles(const ModelFile &file, GraphIndex &index, Notes &notes) {
  Sources sources(file, index);
  for (const int i : index.order) {
    const onnx::NodeProto &node = file.model->graph().node(i);
    if ((node.op_type() != "Cos" && node.op_type() != "Sin") || node.input_size() != 1)
      continue;
    for (const std::string &name : sources.of(node.input(0)).value_or(std::vector<std::string>())) {
      if (elementsOf(*index.initializers.lookup(name)) > maxConstantElements)
        continue;
      if (index.buffers.try_emplace(name, true).second)
        notes.add("not trained, since cosines and sines have no derivative here", name);
      index.buffers[name] = true;
    }
  }
}

void frontend::findBuffers(const ModelFile &file, GraphIndex &index, Notes &notes) {
  findMarked(file, index);
  findAngles(file, index, notes);
}
