// Operators that make or rename values: Constant, generators, Identity, Cast, Shape.
#include "frontend/onnx/ElementType.h"
#include "frontend/onnx/FoldConstants.h"
#include "frontend/onnx/ImportNoise.h"
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/ShapeRules.h"

#include "onnx/onnx_pb.h"

#include <algorithm>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;
using onnx::TensorProto;

static LogicalResult importIdentity(NodeImport &node) {
  return importSequenceAlias(node) ? success() : node.defineAlias();
}

static LogicalResult importCast(NodeImport &node) {
  auto to = static_cast<int>(node.integer("to", 0));
  Type type = elementType(to, node.state.builder.getContext());
  if (type == elementOf(node.tensor(0)) && !isWholeOperand(node, 0))
    return node.defineAlias();
  if (node.state.isStep)
    return importWholeCast(node);
  if (type == elementOf(node.tensor(0)))
    return node.defineAlias();
  return node.error("conversion of tensors to " + elementName(to) + " is not supported");
}

static bool areTruthValues(const std::optional<WholeBounds> &bounds) {
  return bounds && bounds->least >= 0 && bounds->most <= 1;
}

/// Whether a Cast makes the name's integers, which are no truth values then, whatever their bounds.
static bool isCastToIntegers(NodeImport &node, const std::string &name) {
  const auto producer = node.state.index.producers.find(name);
  if (producer == node.state.index.producers.end())
    return false;
  const onnx::NodeProto &cast = node.state.file.model->graph().node(producer->second);
  for (const onnx::AttributeProto &attribute : cast.attribute())
    if (cast.op_type() == "Cast" && attribute.name() == "to")
      return attribute.i() != TensorProto::BOOL && !isFloatElement(static_cast<int>(attribute.i()));
  return false;
}

// A known number becomes one of the other operand's type. Computed integers and truth values are
// f32 here, so that their types are told apart by a Cast, or else by their bounds alone.
static LogicalResult importCastLike(NodeImport &node) {
  GraphValues &values = node.state.values;
  const RankedTensorType from = values.typeOf(node.inputName(0));
  const RankedTensorType to = values.typeOf(node.inputName(1));
  const bool toWhole = isWholeOperand(node, 1);
  const Type element = to ? to.getElementType() : Type();
  const bool toIntegers = toWhole && isCastToIntegers(node, node.inputName(1));
  const bool isComputed = toWhole && isa<FloatType>(element) && !toIntegers;
  if (toIntegers && isWholeOperand(node, 0))
    return node.defineAlias();
  if (from && element && from.getElementType() == element && isWholeOperand(node, 0) == toWhole &&
      (!isComputed || areTruthValues(values.boundsOf(node.inputName(0)))))
    return node.defineAlias();
  if (areTruthValues(values.boundsOf(node.inputName(0))) && element && element.isF32() && !toWhole)
    if (Value x = values.real(node.inputName(0)))
      return node.define(x);
  if (node.isKnown(0) && element && (element.isF32() || element.isInteger(64))) {
    const ConstantTensor &known = *node.constant(0);
    ConstantTensor result =
        castTo(known, element.isF32() && !toWhole ? TensorProto::FLOAT : TensorProto::INT64);
    if (!isComputed || !areTruthValues(values.boundsOf(node.inputName(1))) ||
        result.ints == castTo(known, TensorProto::BOOL).ints)
      return node.defineConstant(std::move(result));
  }
  return node.error("cannot convert '" + node.inputName(0) + "' to the type of '" +
                    node.inputName(1) + "': only constants are converted, and to float or int64");
}

/// Whether the node was copied out of a function, branch or loop, where --save has no place for
/// values that training changes.
static bool isCopy(const NodeImport &node) {
  return node.state.current >= node.state.file.ownNodes;
}

/// Floating-point constants of more elements are kept beside the weights, not in the IR.
static constexpr std::int64_t largestConstantInIr = 1024;

static LogicalResult importTensorConstant(NodeImport &node, const TensorProto &proto) {
  Result<TensorData> data = checkTensor(proto, node.state.file.folders);
  if (!data)
    return node.error(data.status().message());
  if (isFloatElement(data->type) && nn::elementCount(data->dims) > largestConstantInIr &&
      !isCopy(node))
    return node.defineStored({*data, {}, /*isTrainable=*/false});
  Result<ConstantTensor> constant = readConstant(*data);
  if (!constant)
    return node.error(constant.status().message());
  return node.defineConstant(std::move(*constant));
}

static LogicalResult importConstant(NodeImport &node) {
  ConstantTensor constant;
  for (const onnx::AttributeProto &attribute : node.proto.attribute()) {
    const std::string &name = attribute.name();
    if (name == "value" && attribute.has_t())
      return importTensorConstant(node, attribute.t());
    if (name == "value_float" || name == "value_int") {
      constant.type = name == "value_int" ? TensorProto::INT64 : TensorProto::FLOAT;
      (constant.isReal() ? void(constant.reals = {attribute.f()})
                         : void(constant.ints = {attribute.i()}));
      return node.defineConstant(std::move(constant));
    }
    if (name == "value_floats") {
      constant.type = TensorProto::FLOAT;
      constant.dims = {attribute.floats_size()};
      constant.reals.assign(attribute.floats().begin(), attribute.floats().end());
      return node.defineConstant(std::move(constant));
    }
    if (name == "value_ints") {
      constant = integerList(nn::Dims(attribute.ints().begin(), attribute.ints().end()));
      return node.defineConstant(std::move(constant));
    }
  }
  return node.error("expected a value that is a dense tensor or numbers");
}

/// Fills a constant whose shape depends on data; those are small: masks, offsets.
static LogicalResult defineFilled(NodeImport &node, const ConstantTensor &value,
                                  const nn::Dims &dims) {
  std::int64_t count = nn::elementCount(dims);
  if (count > maxConstantElements)
    return node.error("constant of shape " + nn::toString(dims) +
                      " is too large to compute with at import");
  ConstantTensor result = filled(value, dims);
  const ConstantTensor &shape = *node.constant(0);
  result.fromShape = shape.fromShape;
  if (shape.atOtherBatch) {
    const std::vector<std::int64_t> &others = shape.atOtherBatch->ints;
    if (isSaneShape(others) && nn::elementCount(others) <= maxConstantElements)
      result.setAtOtherBatch(filled(value, nn::Dims(others.begin(), others.end())));
  }
  return node.defineConstant(std::move(result));
}

static LogicalResult defineInit(NodeImport &node, int type, const nn::Dims &dims, nn::InitKind kind,
                                double a, double b) {
  if (!isFloatElement(type))
    return node.error("expected a floating-point element type, got " + elementName(type));
  if (!isSaneShape(dims, 1))
    return node.error("its result's shape " + nn::toString(dims) + " is empty or too large");
  Builder &builder = node.state.builder;
  StoredSource source;
  source.data.type = type;
  source.data.dims = dims;
  source.init = nn::InitAttr::get(builder.getContext(), kind, builder.getF64FloatAttr(a),
                                  builder.getF64FloatAttr(b));
  return node.defineStored(std::move(source));
}

// A floating-point tensor of fixed shape is a parameter without values; a number that is computed
// with, and others, are constants.
static LogicalResult importConstantOfShape(NodeImport &node) {
  std::optional<nn::Dims> dims = node.list("shape", 0);
  if (!dims)
    return failure();
  ConstantTensor value;
  value.type = TensorProto::FLOAT;
  value.reals = {0};
  if (const onnx::AttributeProto *attribute = node.attribute("value")) {
    Result<TensorData> data = checkTensor(attribute->t(), node.state.file.folders);
    Result<ConstantTensor> read = data ? readConstant(*data) : data.status();
    if (!read || read->size() != 1)
      return node.error("value: " + (read ? "expected one element" : read.status().message()));
    value = std::move(*read);
  }
  if (!isSaneShape(*dims))
    return node.error("its result's shape " + nn::toString(*dims) + " is negative or too large");
  bool fromShape = node.constant(0)->fromShape;
  // PyTorch writes torch.full([], x) as a node; files without weights have an initialiser as shape.
  const bool isNumber = dims->empty() && node.state.index.producers.count(node.inputName(0));
  // An exporter that marks parameters writes them as initialisers, and buffers of zeros as nodes.
  const bool hasMarks = !node.state.index.parameters.empty();
  if (value.isReal() && !fromShape && !isNumber && !hasMarks && !isCopy(node))
    return defineInit(node, value.type, *dims, nn::InitKind::constant, value.reals[0], 0);
  return defineFilled(node, value, *dims);
}

static LogicalResult importRandom(NodeImport &node) {
  std::optional<nn::Dims> dims = node.integers("shape");
  if (!dims)
    return node.error("expected a shape");
  if (isNoise(node))
    return importFixedNoise(node);
  if (isCopy(node))
    return node.error("draws a parameter in a function, branch or loop, which cannot be saved "
                      "there; expected it in the graph itself");
  auto type = static_cast<int>(node.integer("dtype", TensorProto::FLOAT));
  if (node.op() == "RandomNormal")
    return defineInit(node, type, *dims, nn::InitKind::normal, node.real("mean", 0),
                      node.real("scale", 1));
  return defineInit(node, type, *dims, nn::InitKind::uniform, node.real("low", 0),
                    node.real("high", 1));
}

// Shapes are static during import, so they are constants.
static LogicalResult importShape(NodeImport &node) {
  ConstantTensor result = shapeConstant(node, node.dims(0));
  result.fromShape = true;
  result.setAtOtherBatch(
      shapeConstant(node, node.state.values.layout.dimsAtOtherBatch(node.tensor(0))));
  return node.defineConstant(std::move(result));
}

/// Ones on the diagonal k places right of the main one, zeros elsewhere.
static ConstantTensor diagonal(int type, nn::DimsRef dims, std::int64_t k) {
  ConstantTensor eye;
  eye.type = TensorProto::INT64;
  eye.dims = nn::Dims(dims);
  eye.ints.assign(eye.size(), 0);
  for (std::int64_t row = std::max<std::int64_t>(0, -k); row < dims[0] && row + k < dims[1]; ++row)
    eye.ints[row * dims[1] + row + k] = 1;
  return castTo(eye, type);
}

// Shapes are static during import, so it is a constant of the operand's shape.
static LogicalResult importEyeLike(NodeImport &node) {
  GraphValues &values = node.state.values;
  const RankedTensorType x = values.typeOf(node.inputName(0));
  if (!x || x.getRank() != 2)
    return node.error("expected a matrix, got " +
                      (x ? "shape " + nn::toString(x.getShape()) : "'" + node.inputName(0) + "'"));
  const int own = isWholeOperand(node, 0) ? values.wholeType(node.inputName(0))
                                          : elementNumber(x.getElementType());
  const auto type = static_cast<int>(node.integer("dtype", own));
  const std::int64_t k = node.integer("k", 0);
  if (elementBytes(type) == 0)
    return node.error("conversion to " + elementName(type) + " is not supported");
  const auto fits = [](nn::DimsRef dims) {
    return isSaneShape(dims) && nn::elementCount(dims) <= maxConstantElements;
  };
  if (!fits(x.getShape()))
    return node.error("a constant of shape " + nn::toString(x.getShape()) +
                      " is too large to compute at import");
  const std::int64_t beyond = maxConstantElements; // diagonals there are empty
  const std::int64_t place = std::clamp(k, -beyond, beyond);
  ConstantTensor result = diagonal(type, x.getShape(), place);
  result.fromShape = true;
  const nn::Dims others = values.isComputed(node.inputName(0))
                              ? values.layout.dimsAtOtherBatch(node.tensor(0))
                              : nn::Dims(x.getShape());
  if (fits(others))
    result.setAtOtherBatch(diagonal(type, others, place));
  return node.defineConstant(std::move(result));
}

OpRows frontend::constantOps() {
  static constexpr OpRow rows[] = {
      {"Cast", {importCast, 1, 1, false}},    {"CastLike", {importCastLike, 2, 0}},
      {"Constant", {importConstant, 0, 0}},   {"ConstantOfShape", {importConstantOfShape, 1, 0}},
      {"EyeLike", {importEyeLike, 1, 0}},     {"Identity", {importIdentity, 1, 0}},
      {"RandomNormal", {importRandom, 0, 0}}, {"RandomUniform", {importRandom, 0, 0}},
      {"Shape", {importShape, 1, 1, false}},  {"Size", {importShape, 1, 1, false}},
  };
  return rows;
}
