// Asks the ONNX library's operator schemas for a node's result types.
#include "frontend/onnx/ShapeInference.h"

#include "frontend/onnx/ElementType.h"
#include "frontend/onnx/LaterShapes.h"
#include "frontend/onnx/OpTable.h"

#include "mlir/IR/BuiltinOps.h"

#include "onnx/defs/schema.h"
#include "syncline/ChildProcess.h"

#include <algorithm>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

namespace {

/// What the library's rules see of one node. Operands are copied: the rules want its own classes.
class NodeContext : public onnx::InferenceContext {
public:
  explicit NodeContext(NodeImport &node) : node(node), outputs(node.outputCount()) {
    for (unsigned i = 0; i < node.inputCount(); ++i) {
      types.push_back(node.hasInput(i) ? typeOf(node.inputName(i)) : nullptr);
      values.push_back(node.hasInput(i) ? valuesOf(i) : nullptr);
    }
  }

  const onnx::AttributeProto *getAttribute(const std::string &name) const override {
    return node.attribute(name);
  }
  size_t getNumInputs() const override { return types.size(); }
  const onnx::TypeProto *getInputType(size_t i) const override {
    return i < types.size() ? types[i].get() : nullptr; // rules ask for operands beyond the last
  }
  const onnx::TensorProto *getInputData(size_t i) const override {
    return i < values.size() ? values[i].get() : nullptr;
  }
  size_t getNumOutputs() const override { return outputs.size(); }
  onnx::TypeProto *getOutputType(size_t i) override {
    return i < outputs.size() ? &outputs[i] : &nobodys;
  }
  onnx::GraphInferencer *getGraphAttributeInferencer(const std::string &) override {
    return nullptr; // subgraphs are not looked into
  }
  const onnx::SparseTensorProto *getInputSparseData(size_t) const override { return nullptr; }
  const onnx::TensorShapeProto *getSymbolicInput(size_t) const override { return nullptr; }

  /// Lets the schema's rule set the outputs in a child process: a wrong rank may crash the rule.
  Status apply(const onnx::OpSchema &schema) {
    constexpr unsigned seconds = 10;
    const auto infer = [&] {
      onnx::GraphProto graph;
      try {
        schema.GetTypeAndShapeInferenceFunction()(*this);
      } catch (const std::exception &error) { // the operands do not fit the rule
        graph.set_doc_string(error.what());
      }
      for (const onnx::TypeProto &type : outputs)
        *graph.add_output()->mutable_type() = type;
      return graph.SerializeAsString();
    };
    SYNCLINE_TRY_GET(answer, answerOfChild(infer, seconds));
    if (answer->end.signal != 0)
      return Status::badInput("the ONNX library fails on it");
    onnx::GraphProto graph;
    if (!graph.ParseFromString(answer->text) ||
        graph.output_size() != static_cast<int>(outputs.size()))
      return Status::badInput("the ONNX library fails on it");
    if (graph.has_doc_string())
      return Status::badInput(graph.doc_string());
    for (int i = 0; i < graph.output_size(); ++i)
      outputs[static_cast<std::size_t>(i)] = graph.output(i).type();
    return Status::ok();
  }

private:
  std::unique_ptr<onnx::TypeProto> typeOf(const std::string &name) {
    RankedTensorType type = node.state.values.typeOf(name);
    if (!type)
      return nullptr;
    auto proto = std::make_unique<onnx::TypeProto>();
    proto->mutable_tensor_type()->set_elem_type(elementNumber(type.getElementType()));
    onnx::TensorShapeProto *shape = proto->mutable_tensor_type()->mutable_shape();
    for (std::int64_t size : type.getShape())
      shape->add_dim()->set_dim_value(size);
    return proto;
  }

  /// Values of operand `i` if it is small: shapes, axes and scales are.
  std::unique_ptr<onnx::TensorProto> valuesOf(unsigned i) {
    constexpr std::int64_t most = 1024;
    RankedTensorType type = node.state.values.typeOf(node.inputName(i));
    const bool isSmall = type && type.getNumElements() <= most;
    const ConstantTensor *constant = isSmall ? node.constant(i) : nullptr;
    if (!constant)
      return nullptr;
    auto proto = std::make_unique<onnx::TensorProto>();
    for (std::int64_t size : constant->dims)
      proto->add_dims(size);
    const bool isReal = constant->isReal();
    proto->set_data_type(isReal ? onnx::TensorProto::FLOAT : onnx::TensorProto::INT64);
    for (double value : constant->reals)
      proto->add_float_data(static_cast<float>(value));
    for (std::int64_t value : constant->ints)
      proto->add_int64_data(value);
    return proto;
  }

  NodeImport &node;
  std::vector<std::unique_ptr<onnx::TypeProto>> types;
  std::vector<std::unique_ptr<onnx::TensorProto>> values;
  std::vector<onnx::TypeProto> outputs;
  onnx::TypeProto nobodys;
};

/// The schema, or null where the node is of a later form, with parts that the schema lacks, or has
/// subgraphs, which the library is not shown.
const onnx::OpSchema *schemaOf(const NodeImport &node) {
  if (!node.proto.domain().empty() && node.proto.domain() != "ai.onnx")
    return nullptr;
  // From opset 16 on the library defines these by other operators, and has no rule for them.
  const std::string op = node.op() == "LessOrEqual"      ? "Less"
                         : node.op() == "GreaterOrEqual" ? "Greater"
                                                         : node.op();
  const onnx::OpSchema *schema =
      onnx::OpSchemaRegistry::Schema(op, static_cast<int>(node.opset()), "");
  if (!schema || schema->deprecated() || !schema->has_type_and_shape_inference_function() ||
      static_cast<int>(node.inputCount()) > schema->max_input() ||
      static_cast<int>(node.outputCount()) > schema->max_output())
    return nullptr;
  const bool knowsAll = std::ranges::all_of(node.proto.attribute(), [&](const auto &attribute) {
    return schema->attributes().count(attribute.name()) != 0 && !attribute.has_g();
  });
  return knowsAll ? schema : nullptr;
}

/// Whether the node has the operands and attributes that the schema requires; rules rely on them.
bool isComplete(NodeImport &node, const onnx::OpSchema &schema) {
  for (int i = 0; i < schema.min_input(); ++i)
    if (!node.hasInput(static_cast<unsigned>(i)) ||
        !node.state.values.typeOf(node.inputName(static_cast<unsigned>(i))))
      return false;
  for (const auto &[name, expected] : schema.attributes()) {
    const onnx::AttributeProto *attribute = node.attribute(name);
    if (attribute ? attribute->type() != expected.type : expected.required)
      return false;
  }
  return static_cast<int>(node.outputCount()) >= schema.min_output();
}

/// The type that the rule set; null where its shape or element type is not complete.
RankedTensorType toType(const onnx::TypeProto &proto, MLIRContext *context) {
  if (!proto.has_tensor_type() || !proto.tensor_type().has_shape())
    return {};
  Type element = elementType(proto.tensor_type().elem_type(), context);
  nn::Dims dims;
  for (const auto &dimension : proto.tensor_type().shape().dim())
    dims.push_back(dimension.has_dim_value() ? dimension.dim_value() : -1);
  if (!element || !isSaneShape(dims, 1))
    return {};
  return RankedTensorType::get(dims, element);
}

/// Whether a convolution's weight has as many dimensions as its operand.
bool fitsWindow(NodeImport &node) {
  const auto rankOf = [&](unsigned i) {
    return node.state.values.typeOf(node.inputName(i)).getRank();
  };
  return node.op() != "ConvTranspose" || rankOf(0) == rankOf(1);
}

/// The library divides by some attributes, and indexes by others and by dimensions that a weight
/// may lack, without a check of its own: it reads memory that was never written there.
bool areSane(NodeImport &node) {
  if (!fitsWindow(node))
    return false;
  std::int64_t rank = 0;
  for (unsigned i = 0; i < node.inputCount(); ++i)
    if (RankedTensorType type =
            node.hasInput(i) ? node.state.values.typeOf(node.inputName(i)) : RankedTensorType())
      rank = std::max(rank, type.getRank());
  for (const onnx::AttributeProto &attribute : node.proto.attribute()) {
    const std::string &name = attribute.name();
    const bool isWindow = name == "strides" || name == "dilations" || name == "kernel_shape";
    if (isWindow && std::ranges::any_of(attribute.ints(), [](auto size) { return size < 1; }))
      return false;
    if (name == "batch_dims" && (attribute.i() < 0 || attribute.i() > rank))
      return false;
    const std::int64_t least = -rank - attribute.ints_size() - 1, most = -least;
    const auto isFar = [&](std::int64_t axis) { return axis < least || axis > most; };
    if ((name == "axis" && isFar(attribute.i())) ||
        ((name == "axes" || name == "perm") && std::ranges::any_of(attribute.ints(), isFar)))
      return false;
  }
  return true;
}

/// The result's type as the file states it. Null where the file fixes the batch at another size or
/// leaves a dimension open.
RankedTensorType statedType(NodeImport &node, const std::string &name) {
  const ImportState &state = node.state;
  if (state.exportedBatch.value_or(state.batch) != state.batch)
    return {};
  for (const onnx::ValueInfoProto &value : state.file.model->graph().value_info()) {
    if (value.name() != name || !value.type().has_tensor_type())
      continue;
    onnx::TypeProto type = value.type();
    for (auto &dimension : *type.mutable_tensor_type()->mutable_shape()->mutable_dim())
      if (auto size = state.dimensions.find(dimension.dim_param()); size != state.dimensions.end())
        dimension.set_dim_value(size->second);
    return toType(type, state.builder.getContext());
  }
  return {};
}

/// Whether a Resize's sizes hold the exported batch where another one is bound: a Resize never
/// changes the batch.
bool fixesBatch(NodeImport &node) {
  const ImportState &state = node.state;
  constexpr unsigned sizes = 3;
  if (node.op() != "Resize" || !node.hasInput(0) || !node.hasInput(sizes))
    return false;
  const ConstantTensor *target = node.constant(sizes);
  const RankedTensorType type = state.values.typeOf(node.inputName(0));
  if (!target || target->isReal() || !type || type.getRank() == 0 ||
      target->size() != type.getRank())
    return false;
  return node.isBatched(0) && type.getDimSize(0) == state.batch && target->ints[0] != state.batch;
}

} // namespace

Result<llvm::SmallVector<RankedTensorType>> frontend::inferTypes(NodeImport &node) {
  llvm::SmallVector<RankedTensorType> types(node.outputCount());
  const auto later = laterTypes(node);
  if (later && failed(*later))
    return node.state.values.status;
  const onnx::OpSchema *schema = later ? nullptr : schemaOf(node);
  NodeContext context(node);
  if (node.failed())
    return node.state.values.status;
  if (schema && (!isComplete(node, *schema) || !areSane(node)))
    return Status::badInput("its operands or attributes are not what the operator asks for");
  if (schema)
    SYNCLINE_TRY(context.apply(*schema));
  for (unsigned i = 0; i < types.size(); ++i) {
    if (!node.isUsed(i))
      continue;
    const std::string &name = node.proto.output(static_cast<int>(i));
    types[i] =
        later ? (**later)[i] : toType(*context.getOutputType(i), node.state.builder.getContext());
    types[i] = types[i] ? types[i] : statedType(node, name);
    if (!types[i])
      return Status::badInput(
          "the shape of its result '" + name + "' is not known: " +
          (schema || later ? "it depends on values that the step computes"
           : isDefaultDomain(node.proto.domain())
               ? "there is no rule for this operator of opset " + std::to_string(node.opset()) +
                     ", and the file states none"
               : "the file states none, and " + unsupportedOp(node) + optimizerHint(node)));
  }
  return types;
}

/// The place of the batch in a result of which only the shape is known: where an operand has it, or
/// in the one dimension of that size.
static BatchLayout::Place likelyPlace(NodeImport &node, RankedTensorType type, unsigned result) {
  BatchLayout &layout = node.state.values.layout;
  const nn::DimsRef dims = type.getShape();
  const auto holds = [&](const BatchPlace &place) {
    return place.dim < type.getRank() && dims[place.dim] == place.factor() * layout.batch;
  };
  const bool isRecurrent = node.op() == "LSTM" || node.op() == "GRU" || node.op() == "RNN";
  if (isRecurrent) {
    const bool isBatchFirst = node.integer("layout", 0) == 1;
    const BatchPlace place{isBatchFirst ? 0 : result == 0 ? 2 : 1};
    return holds(place) ? BatchLayout::Place(place) : std::nullopt;
  }
  for (unsigned i = 0; i < node.inputCount(); ++i) {
    if (!node.hasInput(i) || !node.isBatched(i))
      continue;
    const Value operand = node.tensor(i);
    const BatchLayout::Place place = operand ? layout.of(operand) : std::nullopt;
    if (place && holds(*place))
      return place;
  }
  const auto isBatched = [&](const std::string &name) { return node.state.values.isBatched(name); };
  if (llvm::count(dims, layout.batch) != 1 || !llvm::any_of(node.proto.input(), isBatched))
    return {};
  return BatchPlace{llvm::find(dims, layout.batch) - dims.begin()};
}

LogicalResult frontend::importByShape(NodeImport &node) {
  if (fixesBatch(node))
    return node.error("'" + node.inputName(3) + "' fixes the batch, expected " +
                      llvm::Twine(node.state.batch) +
                      "; export the model with that batch, or with a dynamic one");
  Result<llvm::SmallVector<RankedTensorType>> types = inferTypes(node);
  if (!types)
    return node.error(types.status().message());
  for (unsigned i = 0; i < types->size(); ++i)
    if ((*types)[i]) {
      auto place = node.create<UnrealizedConversionCastOp>(TypeRange((*types)[i]), ValueRange());
      node.state.values.layout.set(place.getResult(0), likelyPlace(node, (*types)[i], i));
      if (failed(node.define(place.getResult(0), i)))
        return failure();
    }
  return success();
}
