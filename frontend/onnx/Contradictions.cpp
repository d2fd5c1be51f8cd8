// Refuses contradictions within one node or tensor.
#include "frontend/onnx/Contradictions.h"

#include "frontend/onnx/ExternalFiles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include "onnx/defs/schema.h"
#include "onnx/onnx_pb.h"

using namespace syncline;
using namespace syncline::frontend;
using onnx::AttributeProto;
using onnx::TensorProto;

/// Whether the attribute has no value of another type than the one it states.
static bool isOfItsType(const AttributeProto &attribute) {
  const std::pair<AttributeProto::AttributeType, bool> fields[] = {
      {AttributeProto::FLOAT, attribute.has_f()},
      {AttributeProto::INT, attribute.has_i()},
      {AttributeProto::STRING, attribute.has_s()},
      {AttributeProto::TENSOR, attribute.has_t()},
      {AttributeProto::GRAPH, attribute.has_g()},
      {AttributeProto::SPARSE_TENSOR, attribute.has_sparse_tensor()},
      {AttributeProto::FLOATS, attribute.floats_size() > 0},
      {AttributeProto::INTS, attribute.ints_size() > 0},
      {AttributeProto::STRINGS, attribute.strings_size() > 0},
      {AttributeProto::TENSORS, attribute.tensors_size() > 0},
      {AttributeProto::GRAPHS, attribute.graphs_size() > 0},
      {AttributeProto::SPARSE_TENSORS, attribute.sparse_tensors_size() > 0}};
  // Files of IR version 1 and 2 leave the type out.
  const bool isStated = attribute.type() != AttributeProto::UNDEFINED;
  return llvm::count_if(fields, [](const auto &field) { return field.second; }) <= 1 &&
         llvm::none_of(fields, [&](const auto &field) {
           return field.second && isStated && field.first != attribute.type();
         });
}

static Status checkFields(const TensorProto &tensor) {
  const bool fields[] = {
      !tensor.raw_data().empty(),    tensor.float_data_size() > 0,
      tensor.int32_data_size() > 0,  tensor.string_data_size() > 0,
      tensor.int64_data_size() > 0,  tensor.double_data_size() > 0,
      tensor.uint64_data_size() > 0, tensor.data_location() == TensorProto::EXTERNAL};
  if (llvm::count(fields, true) > 1)
    return Status::badInput("tensor '" + tensor.name() + "': it has values in two fields");
  llvm::StringSet<> keys;
  for (const onnx::StringStringEntryProto &entry : tensor.external_data())
    if (!keys.insert(entry.key()).second)
      return Status::badInput("tensor '" + tensor.name() + "': its external data has '" +
                              entry.key() + "' twice");
  return Status::ok();
}

static Status checkAttributes(const onnx::NodeProto &node) {
  llvm::StringSet<> names;
  for (const AttributeProto &attribute : node.attribute()) {
    if (attribute.name().empty())
      return Status::badInput(describeNode(node) + ": an attribute has no name");
    const std::string what = describeNode(node) + ": attribute '" + attribute.name() + "' ";
    if (!names.insert(attribute.name()).second)
      return Status::badInput(what + "is given twice");
    if (!isOfItsType(attribute))
      return Status::badInput(what + "has values of another type than it states");
    if (Status status = checkFields(attribute.t()); !status)
      return Status::badInput(describeNode(node) + ": " + status.message());
  }
  if (node.op_type() == "Constant" && node.attribute_size() > 1)
    return Status::badInput(describeNode(node) + ": expected one value, got '" +
                            node.attribute(0).name() + "' and '" + node.attribute(1).name() + "'");
  return Status::ok();
}

/// Judges by the operator's definition in the library.
static Status checkOperator(const onnx::NodeProto &node, const onnx::OpSchema &schema) {
  for (const AttributeProto &attribute : node.attribute())
    if (!schema.attributes().count(attribute.name()) && !attribute.name().starts_with("__"))
      return Status::badInput(describeNode(node) + ": the operator has no attribute '" +
                              attribute.name() + "'");
  for (auto [what, count, most] : {std::tuple("operands", node.input_size(), schema.max_input()),
                                   {"results", node.output_size(), schema.max_output()}})
    if (count > most)
      return Status::badInput(describeNode(node) + ": expected at most " + std::to_string(most) +
                              " " + what + ", got " + std::to_string(count));
  return Status::ok();
}

static Status checkDefinition(const onnx::NodeProto &node, std::int64_t opset) {
  SYNCLINE_TRY(checkAttributes(node));
  // The newest definitions that the library has are those of its own operator set.
  static const int newest =
      onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map().at("").second;
  if (!isDefaultDomain(node.domain()) || opset > newest)
    return Status::ok();
  const auto *schema = onnx::OpSchemaRegistry::Schema(node.op_type(), static_cast<int>(opset), "");
  return schema ? checkOperator(node, *schema) : Status::ok();
}

/// The overload of a function that a node calls, a field that is younger than the library.
static bool hasOverload(const onnx::NodeProto &node) {
  constexpr int overloadField = 8;
  const auto &fields = node.GetReflection()->GetUnknownFields(node);
  for (int i = 0; i < fields.field_count(); ++i)
    if (fields.field(i).number() == overloadField)
      return true;
  return false;
}

/// Before IR version 4 initialisers are inputs as well; both state a shape.
static Status compareWithInputs(const onnx::GraphProto &graph, const GraphIndex &index) {
  for (const onnx::ValueInfoProto &input : graph.input()) {
    const TensorProto *tensor = index.initializers.lookup(input.name());
    if (!tensor || !input.type().has_tensor_type() || !input.type().tensor_type().has_shape())
      continue;
    const auto &dims = input.type().tensor_type().shape().dim();
    bool isSame = dims.size() == tensor->dims_size();
    for (int i = 0; isSame && i < dims.size(); ++i)
      isSame = !dims[i].has_dim_value() || dims[i].dim_value() == tensor->dims(i);
    if (!isSame)
      return Status::badInput("initialiser '" + input.name() +
                              "' has another shape than the input of its name");
  }
  return Status::ok();
}

Status frontend::refuseContradictions(const ModelFile &file, const GraphIndex &index,
                                      Notes &notes) {
  for (const auto &tensor : file.initializers)
    SYNCLINE_TRY(checkFields(*tensor));
  SYNCLINE_TRY(compareChecksums(file, notes));
  SYNCLINE_TRY(compareWithInputs(file.model->graph(), index));
  llvm::StringSet<> functions;
  for (const onnx::FunctionProto &function : file.model->functions())
    if (isDefaultDomain(function.domain()))
      functions.insert(function.name());
  for (int i : index.order) {
    const onnx::NodeProto &node = file.model->graph().node(i);
    SYNCLINE_TRY(checkDefinition(node, file.opset));
    if (isDefaultDomain(node.domain()) && functions.contains(node.op_type()))
      notes.add("computed as ONNX defines the operator, not by the file's function of its name",
                index.layers[i]);
    if (hasOverload(node))
      return Status::badInput(describeNode(node) + ": overloads of functions are not supported");
  }
  return Status::ok();
}
