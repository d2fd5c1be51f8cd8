// Tensors without elements, as a rotary embedding of width 0 makes them. They are known, so that no
// operation of a step has one.
#include "frontend/onnx/FoldConstants.h"
#include "frontend/onnx/OpTable.h"

#include "frontend/onnx/ElementType.h"

#include "llvm/ADT/StringSwitch.h"

#include "onnx/onnx_pb.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

bool frontend::isEmpty(NodeImport &node, unsigned i) {
  if (!node.hasInput(i) || !node.state.values.isKnown(node.inputName(i)))
    return false;
  const ConstantTensor *known = node.constant(i);
  return known && known->size() == 0;
}

LogicalResult frontend::defineEmpty(NodeImport &node, int type, nn::DimsRef dims,
                                    nn::DimsRef atOtherBatch, unsigned i) {
  if (llvm::any_of(dims, [](std::int64_t size) { return size < 0 || size > maxElements; }))
    return node.error("its result's shape " + nn::toString(dims) + " is negative or too large");
  ConstantTensor empty;
  empty.type = type;
  empty.dims = nn::Dims(dims);
  if (dims != atOtherBatch) {
    ConstantTensor other = empty;
    other.dims = nn::Dims(atOtherBatch);
    empty.atOtherBatch = std::make_shared<const ConstantTensor>(std::move(other));
  }
  return node.defineConstant(std::move(empty), i);
}

/// The operand's type in the file.
static int typeOfOperand(NodeImport &node, unsigned i) {
  if (isWholeOperand(node, i))
    return node.state.values.wholeType(node.inputName(i));
  const RankedTensorType type = node.state.values.typeOf(node.inputName(i));
  return type ? elementNumber(type.getElementType()) : 0;
}

LogicalResult frontend::defineEmptyPart(NodeImport &node, Value x, nn::DimsRef counts, unsigned i) {
  nn::Dims others(counts);
  const BatchLayout &layout = node.state.values.layout;
  if (const BatchLayout::Place place = node.state.values.layout.of(x)) {
    const std::int64_t d = place->dim + static_cast<std::int64_t>(counts.size()) - rankOf(x);
    if (counts[d] == shapeOf(x)[place->dim])
      others[d] = place->factor() * layout.otherBatch();
  }
  return defineEmpty(node, typeOfOperand(node, 0), counts, others, i);
}

namespace {

/// Which operands' shapes an elementwise operator's result has.
enum class Elementwise { no, first, all, comparison, choice };

Elementwise kindOf(llvm::StringRef op) {
  const auto kind =
      llvm::StringSwitch<Elementwise>(op)
          .Cases("Cast", "CastLike", "Clip", "Dropout", Elementwise::first)
          .Cases("Gelu", "LogSoftmax", "Softmax", "Pow", Elementwise::first)
          .Cases("Add", "Div", "Max", "Mean", "Min", Elementwise::all)
          .Cases("Mul", "PRelu", "Sub", "Sum", Elementwise::all)
          .Cases("And", "Equal", "Greater", "GreaterOrEqual", "Less", Elementwise::comparison)
          .Cases("LessOrEqual", "Not", "Or", "Xor", Elementwise::comparison)
          .Cases("IsInf", "IsNaN", Elementwise::comparison)
          .Case("Where", Elementwise::choice)
          .Default(Elementwise::no);
  return kind == Elementwise::no && findUnary(op) ? Elementwise::first : kind;
}

/// The shape to which operands broadcast, at this batch or at another one; unset where they do
/// not, or one is not known.
std::optional<nn::Dims> jointShape(NodeImport &node, unsigned count, bool atOtherBatch) {
  nn::Dims joint;
  for (unsigned i = 0; i < count; ++i) {
    if (!node.hasInput(i))
      continue;
    const RankedTensorType type = node.state.values.typeOf(node.inputName(i));
    if (!type)
      return std::nullopt;
    nn::Dims own(type.getShape());
    if (atOtherBatch && node.state.values.isKnown(node.inputName(i))) {
      if (const auto &other = node.constant(i)->atOtherBatch)
        own = other->dims;
    } else if (atOtherBatch && node.state.values.isComputed(node.inputName(i))) {
      own = node.state.values.layout.dimsAtOtherBatch(node.tensor(i));
    }
    llvm::Expected<nn::Dims> both = nn::broadcastShape(joint, own);
    if (!both) {
      llvm::consumeError(both.takeError());
      return std::nullopt;
    }
    joint = *both;
  }
  return joint;
}

} // namespace

FailureOr<bool> frontend::foldEmpty(NodeImport &node) {
  const Elementwise kind = kindOf(node.op());
  const unsigned count = kind == Elementwise::first ? 1 : node.inputCount();
  bool hasEmpty = false;
  for (unsigned i = 0; kind != Elementwise::no && i < count; ++i)
    hasEmpty |= isEmpty(node, i);
  if (!hasEmpty)
    return false;
  const std::optional<nn::Dims> dims = jointShape(node, count, /*atOtherBatch=*/false);
  if (!dims || nn::elementCount(*dims) != 0)
    return false;
  int type = typeOfOperand(node, kind == Elementwise::choice ? 1 : 0);
  if (kind == Elementwise::comparison)
    type = onnx::TensorProto::BOOL;
  else if (node.op() == "Cast")
    type = static_cast<int>(node.integer("to", 0));
  else if (node.op() == "CastLike" && node.hasInput(1))
    type = typeOfOperand(node, 1);
  const nn::Dims others = jointShape(node, count, /*atOtherBatch=*/true).value_or(*dims);
  if (failed(defineEmpty(node, type, *dims, others)))
    return failure();
  return true;
}
