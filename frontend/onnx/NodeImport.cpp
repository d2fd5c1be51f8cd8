// Reads a node's attributes and operands, defines its results.
#include "frontend/onnx/NodeImport.h"

#include "llvm/ADT/Twine.h"

#include "onnx/onnx_pb.h"

#include <charconv>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;
using onnx::AttributeProto;

std::string frontend::decimal(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof(digits), value).ptr};
}

NodeImport::NodeImport(ImportState &state, const onnx::NodeProto &proto, const std::string &layer)
    : state(state), proto(proto), layer(layer) {}

const std::string &NodeImport::op() const { return proto.op_type(); }

std::string NodeImport::describe() const { return describeNode(proto); }

Location NodeImport::location() { return NameLoc::get(state.builder.getStringAttr(layer)); }

LogicalResult NodeImport::error(const llvm::Twine &message) {
  if (state.values.status)
    state.values.status = Status::badInput(describe() + ": " + message.str());
  return failure();
}

const AttributeProto *NodeImport::attribute(llvm::StringRef name) const {
  for (const AttributeProto &attribute : proto.attribute())
    if (name == attribute.name())
      return &attribute;
  return nullptr;
}

/// Null without an error when the node has no such attribute.
static const AttributeProto *typed(NodeImport &node, llvm::StringRef name,
                                   AttributeProto::AttributeType type) {
  const AttributeProto *attribute = node.attribute(name);
  if (!attribute)
    return nullptr;
  // Files of IR version 1 and 2 leave the type out.
  if (attribute->type() == type || attribute->type() == AttributeProto::UNDEFINED)
    return attribute;
  (void)node.error("attribute '" + name + "': expected " +
                   llvm::StringRef(AttributeProto::AttributeType_Name(type)).lower() + ", got " +
                   llvm::StringRef(AttributeProto::AttributeType_Name(attribute->type())).lower());
  return nullptr;
}

std::int64_t NodeImport::integer(llvm::StringRef name, std::int64_t fallback) {
  const AttributeProto *attribute = typed(*this, name, AttributeProto::INT);
  return attribute ? attribute->i() : fallback;
}

double frontend::shortestDecimal(float number) {
  char digits[32];
  char *end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
  double value = number;
  std::from_chars(digits, end, value);
  return value;
}

double NodeImport::real(llvm::StringRef name, double fallback) {
  const AttributeProto *attribute = typed(*this, name, AttributeProto::FLOAT);
  return attribute ? shortestDecimal(attribute->f()) : fallback;
}

std::string NodeImport::text(llvm::StringRef name, llvm::StringRef fallback) {
  const AttributeProto *attribute = typed(*this, name, AttributeProto::STRING);
  return attribute ? attribute->s() : fallback.str();
}

bool NodeImport::fits(nn::Dims &values, llvm::StringRef what, bool clamp) {
  constexpr std::int64_t limit = std::int64_t(1) << 31;
  for (std::int64_t &value : values) {
    if (!clamp && (value > limit || value < -limit))
      return succeeded(error(what + ": " + llvm::Twine(value) + " is out of range"));
    value = std::clamp(value, -limit * limit, limit * limit);
  }
  return true;
}

std::optional<nn::Dims> NodeImport::integers(llvm::StringRef name, bool clamp) {
  const AttributeProto *attribute = typed(*this, name, AttributeProto::INTS);
  if (!attribute)
    return std::nullopt;
  nn::Dims values(attribute->ints().begin(), attribute->ints().end());
  if (!fits(values, name, clamp))
    return std::nullopt;
  return values;
}

unsigned NodeImport::inputCount() const { return static_cast<unsigned>(proto.input_size()); }

bool NodeImport::hasInput(unsigned i) const { return i < inputCount() && !inputName(i).empty(); }

const std::string &NodeImport::inputName(unsigned i) const {
  return proto.input(static_cast<int>(i));
}

Value NodeImport::tensor(unsigned i) {
  const auto other = bound.find(i);
  return other == bound.end() ? state.values.tensor(inputName(i)) : other->second;
}

Value NodeImport::runningStatistic(unsigned i) { return state.values.state(inputName(i)); }

nn::DimsRef NodeImport::dims(unsigned i) { return shapeOf(tensor(i)); }

const ConstantTensor *NodeImport::constant(unsigned i) {
  const ConstantTensor *known = hasInput(i) ? state.values.constant(inputName(i)) : nullptr;
  return known && readsOtherBatch && known->atOtherBatch ? known->atOtherBatch.get() : known;
}

bool NodeImport::isKnown(unsigned i) const { return state.values.isKnown(inputName(i)); }

bool NodeImport::isBatched(unsigned i) const { return state.values.isBatched(inputName(i)); }

std::optional<nn::Dims> NodeImport::list(llvm::StringRef name, unsigned i, bool clamp) {
  if (!hasInput(i))
    return integers(name, clamp);
  const ConstantTensor *values = constant(i);
  if (!values || values->isReal() || values->dims.size() > 1) {
    (void)error("expected constant integers as " + name + ", got '" + inputName(i) + "'");
    return std::nullopt;
  }
  nn::Dims result(values->ints.begin(), values->ints.end());
  if (!fits(result, name, clamp))
    return std::nullopt;
  return result;
}

std::optional<double> NodeImport::number(llvm::StringRef name, unsigned i) {
  if (!hasInput(i))
    return attribute(name) ? std::optional(real(name, 0)) : std::nullopt;
  if (state.values.isParameter(inputName(i))) {
    (void)error("expected a constant number as " + name + ", got the parameter '" + inputName(i) +
                "'; '--freeze NAME' says that one is not trained");
    return std::nullopt;
  }
  const ConstantTensor *value = constant(i);
  if (!value || value->size() != 1) {
    (void)error("expected a constant number as " + name + ", got '" + inputName(i) + "'");
    return std::nullopt;
  }
  if (value->type == onnx::TensorProto::FLOAT)
    return shortestDecimal(static_cast<float>(value->reals[0]));
  return value->isReal() ? value->reals[0] : static_cast<double>(value->ints[0]);
}

FailureOr<std::int64_t> NodeImport::axis(std::int64_t axis, size_t rank) {
  auto dimensions = static_cast<std::int64_t>(rank);
  if (axis < -dimensions || axis >= dimensions)
    return error("axis " + llvm::Twine(axis) + " is not within rank " + llvm::Twine(rank));
  return axis < 0 ? axis + dimensions : axis;
}

FailureOr<nn::Dims> NodeImport::axes(nn::DimsRef axes, size_t rank) {
  nn::Dims result;
  for (std::int64_t entry : axes) {
    SYNCLINE_TRY_MLIR(counted, axis(entry, rank));
    if (llvm::is_contained(result, *counted))
      return error("axis " + llvm::Twine(*counted) + " is named twice");
    result.push_back(*counted);
  }
  llvm::sort(result);
  return result;
}

unsigned NodeImport::outputCount() const { return static_cast<unsigned>(proto.output_size()); }

int NodeImport::uses(const std::string &name) const { return state.index.uses.lookup(name); }

bool NodeImport::isUsed(unsigned i) const {
  return i < outputCount() && !proto.output(static_cast<int>(i)).empty() &&
         uses(proto.output(static_cast<int>(i))) > 0;
}

/// Follows the batch into the value. In layers that are planned alone a loss may mix samples.
LogicalResult NodeImport::checkSamples(Value value) {
  BatchLayout &layout = state.values.layout;
  layout.of(value);
  const std::string fault = layout.takeFault();
  if (fault.empty() || !state.isStep)
    return success();
  if (!layout.isAsExported())
    return error(fault);
  if (layout.batch > 1)
    state.notes.add("the samples of a batch depend on each other, as the file says", layer);
  return success();
}

LogicalResult NodeImport::define(Value value, unsigned i) {
  bool isBatched = llvm::any_of(
      proto.input(), [&](const std::string &name) { return state.values.isBatched(name); });
  if (mlir::failed(checkSamples(value)))
    return failure();
  if (!isUsed(i))
    return success();
  const std::string &name = proto.output(static_cast<int>(i));
  state.values.setTensor(name, value, isBatched);
  return success();
}

LogicalResult NodeImport::defineConstant(ConstantTensor constant, unsigned i) {
  if (isUsed(i))
    state.values.setConstant(proto.output(static_cast<int>(i)), std::move(constant));
  return success();
}

LogicalResult NodeImport::defineRepeated(RepeatedTensor constant) {
  if (isUsed(0))
    state.values.setRepeated(proto.output(0), std::move(constant));
  return success();
}

LogicalResult NodeImport::defineStored(StoredSource source) {
  if (isUsed(0))
    state.values.setStored(proto.output(0), std::move(source));
  return success();
}

LogicalResult NodeImport::defineAlias(unsigned input) {
  if (isUsed(0))
    state.values.setAlias(proto.output(0), inputName(input), op() == "Identity");
  return success();
}

FailureOr<RankedTensorType> NodeImport::type(llvm::Expected<nn::Dims> dims, Type element) {
  if (!dims)
    return error(llvm::toString(dims.takeError()) +
                 state.values.layout.exportHint(/*isOpen=*/false));
  if (!isSaneShape(*dims, 1))
    return error("its result's shape " + nn::toString(*dims) + " is empty or too large");
  return RankedTensorType::get(*dims, element);
}

FailureOr<RankedTensorType> NodeImport::type(llvm::Expected<nn::Dims> dims, Value like) {
  return type(std::move(dims), elementOf(like));
}

Value NodeImport::reshape(Value x, nn::DimsRef dims) {
  if (shapeOf(x) == dims)
    return x;
  return create<nn::ReshapeOp>(RankedTensorType::get(dims, elementOf(x)), x);
}

Value NodeImport::scalar(double value, Value like) {
  auto type = RankedTensorType::get({}, elementOf(like));
  return create<nn::ConstantOp>(
      type, DenseElementsAttr::get(type, FloatAttr::get(elementOf(like), value)));
}
