// Max and Min, element by element, of numbers that a step computes.
#include "frontend/onnx/OpTable.h"

#include <algorithm>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

static nn::BinaryKind kindOf(NodeImport &node) {
  return node.op() == "Max" ? nn::BinaryKind::max : nn::BinaryKind::min;
}

/// The operand where it is a scalar that is not trained: a bound, as Clip has. Null for others.
static Value boundOf(NodeImport &node, unsigned i) {
  const std::string &name = node.inputName(i);
  GraphValues &values = node.state.values;
  const RankedTensorType type = values.typeOf(name);
  if (!type || type.getRank() != 0 || !isa<FloatType>(type.getElementType()) ||
      !values.isStored(name) || values.isParameter(name))
    return {};
  const ConstantTensor *number = node.constant(i);
  if (!number || !number->isReal())
    return {};
  const FloatAttr value = FloatAttr::get(type.getElementType(), number->reals[0]);
  return node.create<nn::ConstantOp>(type, DenseElementsAttr::get(type, value));
}

/// The operand, of the first one's element type; null with an error where it is none.
static Value floatOperand(NodeImport &node, unsigned i, Value first) {
  Value bound = boundOf(node, i), value = bound ? bound : node.tensor(i);
  if (!value)
    (void)node.error("operand '" + node.inputName(i) + "' cannot be computed with");
  else if (!isa<FloatType>(elementOf(value)) || isWholeOperand(node, i))
    (void)node.error("expected floating-point elements in '" + node.inputName(i) + "'");
  else if (first && elementOf(first) != elementOf(value))
    (void)node.error("operands '" + node.inputName(0) + "' and '" + node.inputName(i) +
                     "' have different element types");
  return node.failed() ? Value() : value;
}

static Value wholeOperand(NodeImport &node, unsigned i) {
  if (isWholeOperand(node, i))
    return realOperand(node, i);
  const unsigned other = std::max(i, 1U); // one of the first two is whole
  (void)node.error("operands '" + node.inputName(0) + "' and '" + node.inputName(other) +
                   "' have different element types");
  return {};
}

/// The largest or smallest of all operands, two at a time as nested calls of PyTorch's maximum.
static FailureOr<Value> extremeOf(NodeImport &node, bool isWhole) {
  FailureOr<Value> extreme = Value();
  for (unsigned i = 0; i < node.inputCount(); ++i) {
    if (!node.hasInput(i))
      return node.error("operand " + llvm::Twine(i + 1) + " is missing");
    Value next = isWhole ? wholeOperand(node, i) : floatOperand(node, i, *extreme);
    if (!next)
      return failure();
    extreme = *extreme ? createBinary(node, kindOf(node), *extreme, next) : next;
    if (failed(extreme))
      return failure();
    node.state.values.layout.of(*extreme); // all at once it would recurse as deep as there are
  }
  return extreme;
}

static LogicalResult importExtreme(NodeImport &node) {
  if (node.inputCount() == 1)
    return node.defineAlias();
  SYNCLINE_TRY_MLIR(extreme, extremeOf(node, /*isWhole=*/false));
  return node.define(*extreme);
}

LogicalResult frontend::importWholeExtreme(NodeImport &node) {
  SYNCLINE_TRY_MLIR(extreme, extremeOf(node, /*isWhole=*/true));
  const bool isLargest = kindOf(node) == nn::BinaryKind::max;
  GraphValues &values = node.state.values;
  std::optional<WholeBounds> bounds = values.boundsOf(node.inputName(0));
  for (unsigned i = 1; i < node.inputCount(); ++i) {
    const std::optional<WholeBounds> next = values.boundsOf(node.inputName(i));
    if (!bounds || !next)
      bounds.reset();
    else if (isLargest)
      bounds = {std::max(bounds->least, next->least), std::max(bounds->most, next->most)};
    else
      bounds = {std::min(bounds->least, next->least), std::min(bounds->most, next->most)};
  }
  return defineWhole(node, extreme, values.wholeType(node.inputName(0)), bounds);
}

OpRows frontend::extremeOps() {
  static constexpr OpRow rows[] = {
      {"Max", {importExtreme, 1, 0}},
      {"Min", {importExtreme, 1, 0}},
  };
  return rows;
}
