// Finds equal copies by going back through the operations that made them.
#include "frontend/onnx/BindCopies.h"

#include "frontend/onnx/AlikeCopies.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

/// Operators whose operands' dimensions are counted from the last one, and agree or are repeated.
static bool joins(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("Add", "Attention", "Concat", "Div", "MatMul", "Mul", true)
      .Cases("PRelu", "Sub", "Sum", "Where", true)
      .Default(false);
}

/// The batch's place in an operand, with its dimension counted from the end.
static BatchLayout::Place placeFromEnd(NodeImport &node) {
  GraphValues &values = node.state.values;
  for (unsigned i = 0; i < node.inputCount(); ++i) {
    if (!node.hasInput(i) || !node.isBatched(i))
      continue;
    Value operand = node.tensor(i);
    BatchLayout::Place place = operand ? values.layout.of(operand) : std::nullopt;
    if (!place)
      continue;
    place->dim = static_cast<std::int64_t>(shapeOf(operand).size()) - place->dim;
    return place;
  }
  return {};
}

/// As many copies as the batch has, of one of those that `x` has at the place.
static Value boundCopies(NodeImport &node, Value x, const BatchPlace &place) {
  const BatchLayout &layout = node.state.values.layout;
  nn::Dims dims(shapeOf(x));
  dims[place.dim] = place.factor() * layout.batch;
  auto type = RankedTensorType::get(dims, elementOf(x));
  auto all = x.getDefiningOp<nn::BroadcastOp>();
  if (all && repeatsAll(all, place.dim))
    return node.create<nn::BroadcastOp>(type, all.getX());
  nn::Dims apart(shapeOf(x));
  const std::size_t at = place.dim + 1;
  const nn::Dims parts{place.outer, *layout.exported, place.inner};
  apart.erase(apart.begin() + place.dim);
  apart.insert(apart.begin() + place.dim, parts.begin(), parts.end());
  const nn::Dims starts(apart.size(), 0), steps(apart.size(), 1);
  Value one = node.reshape(x, apart);
  const auto resized = [&](std::int64_t copies) {
    apart[at] = copies;
    return RankedTensorType::get(apart, elementOf(x));
  };
  if (*layout.exported > 1)
    one = node.create<nn::SliceOp>(resized(1), one, starts, steps);
  return node.reshape(node.create<nn::BroadcastOp>(resized(layout.batch), one), dims);
}

/// Where operand `i` has the copies, of which there are as many as the file has samples.
static BatchLayout::Place placeOfCopies(NodeImport &node, unsigned i, BatchPlace place) {
  const BatchLayout &layout = node.state.values.layout;
  const RankedTensorType type = node.state.values.typeOf(node.inputName(i));
  const std::int64_t fromEnd = place.dim;
  if (!type || !isa<FloatType>(type.getElementType()) || type.getRank() < fromEnd)
    return {};
  place.dim = type.getRank() - fromEnd;
  if (type.getDimSize(place.dim) != place.factor() * *layout.exported)
    return {};
  const bool isConcat = node.op() == "Concat";
  const std::int64_t axis = isConcat ? node.integer("axis", 0) : 0;
  const bool isAlong = isConcat && (axis < 0 ? axis + type.getRank() : axis) == place.dim;
  const bool isSummed = node.op() == "MatMul" && fromEnd <= 2;
  // One copy is repeated by elementwise operators and products themselves.
  const bool isOne = place.factor() * *layout.exported == 1;
  const bool isRepeated = isOne && !isConcat && node.op() != "Attention";
  return isAlong || isSummed || isRepeated ? std::nullopt : BatchLayout::Place(place);
}

void frontend::bindCopies(NodeImport &node) {
  GraphValues &values = node.state.values;
  BatchLayout &layout = values.layout;
  if (!layout.exported || *layout.exported == layout.batch || !joins(node.op()))
    return;
  const BatchLayout::Place batch = placeFromEnd(node);
  for (unsigned i = 0; batch && i < node.inputCount(); ++i) {
    const BatchLayout::Place place =
        node.hasInput(i) ? placeOfCopies(node, i, *batch) : std::nullopt;
    Value x = place ? node.tensor(i) : Value();
    if (!x || layout.of(x))
      continue;
    llvm::SmallVector<Operation *> made;
    if (!hasEqualCopies(x, *place, *layout.exported, made))
      continue;
    for (Operation *op : made)
      node.state.copies.erase(op);
    Value y = boundCopies(node, x, *place);
    layout.set(y, place);
    node.bind(i, y);
  }
}

void frontend::addCopies(NodeImport &node, nn::BroadcastOp all) {
  const BatchLayout &layout = node.state.values.layout;
  if (layout.isAsExported() || layout.exported == 1)
    return;
  const nn::DimsRef dims = shapeOf(all);
  const std::string result = node.describe() + ": its result of shape " + nn::toString(dims);
  const std::string hint = layout.exportHint(/*isOpen=*/true);
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (!repeatsAll(all, static_cast<std::int64_t>(d)) || dims[d] == 1)
      continue;
    if (!layout.exported) {
      node.state.copies[all] = {result + " does not follow the batch" + hint, false};
    } else if (dims[d] == *layout.exported) {
      node.state.copies[all] = {result + " has copies for a batch of " + std::to_string(dims[d]) +
                                    ", expected " + std::to_string(layout.batch) + hint,
                                d == 0};
      return;
    }
  }
}

/// The operations of operands that have something else where another one has the batch.
static llvm::SetVector<Operation *> unfitOperands(NodeImport &node) {
  GraphValues &values = node.state.values;
  llvm::SetVector<Operation *> unfit;
  const BatchLayout::Place batch = placeFromEnd(node);
  for (unsigned i = 0; batch && i < node.inputCount(); ++i) {
    if (!node.hasInput(i) || !values.isComputed(values.rootOf(node.inputName(i))))
      continue;
    Value operand = node.tensor(i);
    const std::int64_t d = operand ? rankOf(operand) - batch->dim : -1;
    if (d < 0 || values.layout.of(operand) || !operand.getDefiningOp())
      continue;
    if (shapeOf(operand)[d] != 1)
      unfit.insert(operand.getDefiningOp());
  }
  return unfit;
}

std::string frontend::copiesBehind(NodeImport &node) {
  constexpr std::size_t mostVisited = 256;
  ImportState &state = node.state;
  if (state.copies.empty())
    return {};
  llvm::SetVector<Operation *> behind = unfitOperands(node);
  for (std::size_t i = 0; i < behind.size() && i < mostVisited; ++i) {
    if (const auto made = state.copies.find(behind[i]); made != state.copies.end())
      return made->second.what;
    for (Value operand : behind[i]->getOperands())
      if (operand.getDefiningOp() && !state.values.layout.of(operand))
        behind.insert(operand.getDefiningOp());
  }
  return {};
}

Status frontend::checkCopies(const ImportState &state) {
  for (const auto &[op, copies] : state.copies)
    if (copies.isFirst)
      return Status::badInput(copies.what);
  return Status::ok();
}
