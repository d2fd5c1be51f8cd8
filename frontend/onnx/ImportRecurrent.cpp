// LSTM, GRU and RNN: the inputs' products of all time steps as one matrix product, and a recurrent
// layer over them.
#include "frontend/onnx/OpTable.h"
#include "syncline/RecurrentCell.h"

#include "onnx/onnx_pb.h"

#include "llvm/ADT/StringSwitch.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

namespace {

/// What a node's attributes and weights say. Operands are X, W, R, B, sequence_lens, initial_h,
/// initial_c and P.
struct Layer {
  RecurrentCell cell;
  std::int64_t steps, batch, directions, size;
  bool isReverse, isBatchFirst;
};

} // namespace

/// The names in the attribute; those that it lacks are the defaults.
static FailureOr<llvm::SmallVector<std::string>>
activations(NodeImport &node, ArrayRef<StringRef> defaults, std::int64_t directions) {
  llvm::SmallVector<std::string> names;
  const onnx::AttributeProto *given = node.attribute("activations");
  const auto wanted = static_cast<std::int64_t>(defaults.size()) * directions;
  if (given && given->strings_size() != 0 && given->strings_size() != wanted)
    return node.error("expected " + llvm::Twine(wanted) + " activations, got " +
                      llvm::Twine(given->strings_size()));
  for (std::int64_t i = 0; i < wanted; ++i)
    names.push_back(given && given->strings_size() != 0
                        ? StringRef(given->strings(static_cast<int>(i))).lower()
                        : defaults[i % defaults.size()].lower());
  return names;
}

/// The cell that the operator and its activations name.
static FailureOr<RecurrentCell> cellOf(NodeImport &node, std::int64_t directions) {
  const bool isLstm = node.op() == "LSTM", isGru = node.op() == "GRU";
  const StringRef all[] = {"Sigmoid", "Tanh", "Tanh"};
  const ArrayRef<StringRef> defaults = isLstm  ? ArrayRef(all)
                                       : isGru ? ArrayRef(all).take_front(2)
                                               : ArrayRef(all).take_back(1);
  SYNCLINE_TRY_MLIR(names, activations(node, defaults, directions));
  const bool isRelu = !isLstm && !isGru && names->front() == "relu";
  for (auto [i, name] : llvm::enumerate(*names))
    if (name != (isRelu ? "relu" : defaults[i % defaults.size()].lower()))
      return node.error("activation '" +
                        node.attribute("activations")->strings(static_cast<int>(i)) +
                        "' is not supported here, only " +
                        (isLstm || isGru ? "the default ones" : "Tanh, or Relu in all directions"));
  if (isLstm)
    return RecurrentCell::lstm;
  if (isGru)
    return node.integer("linear_before_reset", 0) != 0 ? RecurrentCell::gruResetAfter
                                                       : RecurrentCell::gru;
  return isRelu ? RecurrentCell::rnnRelu : RecurrentCell::rnnTanh;
}

static LogicalResult refuseVariants(NodeImport &node) {
  if (node.attribute("clip"))
    return node.error("clip is not supported");
  if (node.integer("input_forget", 0) != 0)
    return node.error("input_forget is not supported");
  if (node.op() == "LSTM" && node.hasInput(7))
    return node.error("peephole weights are not supported");
  return success();
}

static FailureOr<Layer> readLayer(NodeImport &node) {
  Layer layer{};
  const std::string direction = node.text("direction", "forward");
  layer.directions = llvm::StringSwitch<std::int64_t>(direction)
                         .Cases("forward", "reverse", 1)
                         .Case("bidirectional", 2)
                         .Default(0);
  if (layer.directions == 0)
    return node.error("expected direction 'forward', 'reverse' or 'bidirectional', got '" +
                      direction + "'");
  layer.isReverse = direction == "reverse";
  SYNCLINE_TRY_MLIR(cell, cellOf(node, layer.directions));
  layer.cell = *cell;
  if (failed(refuseVariants(node)))
    return failure();
  const std::int64_t layout = node.integer("layout", 0);
  if (layout != 0 && layout != 1)
    return node.error("expected layout 0 or 1, got " + llvm::Twine(layout));
  layer.isBatchFirst = layout == 1;
  const nn::DimsRef x = node.dims(0), w = node.dims(1), r = node.dims(2);
  if (x.size() != 3)
    return node.error("expected X of rank 3, got " + nn::toString(x));
  layer.steps = x[layer.isBatchFirst ? 1 : 0];
  layer.batch = x[layer.isBatchFirst ? 0 : 1];
  if (r.size() != 3)
    return node.error("expected R of rank 3, got " + nn::toString(r));
  layer.size = node.integer("hidden_size", r[2]);
  constexpr std::int64_t most = std::int64_t(1) << 31;
  if (layer.size < 1 || layer.size > most)
    return node.error("expected a hidden_size from 1 to " + llvm::Twine(most) + ", got " +
                      llvm::Twine(layer.size));
  const std::int64_t rows = gatesOf(layer.cell) * layer.size;
  if (r != nn::DimsRef{layer.directions, rows, layer.size})
    return node.error("expected R of shape " + nn::toString({layer.directions, rows, layer.size}) +
                      " for hidden_size " + llvm::Twine(layer.size) + ", got " + nn::toString(r));
  if (w != nn::DimsRef{layer.directions, rows, x[2]})
    return node.error("expected W of shape " + nn::toString({layer.directions, rows, x[2]}) +
                      ", got " + nn::toString(w));
  return layer;
}

static Value transposed(NodeImport &node, Value x, nn::DimsRef order) {
  nn::Dims dims;
  for (const std::int64_t d : order)
    dims.push_back(shapeOf(x)[d]);
  return node.create<nn::TransposeOp>(RankedTensorType::get(dims, elementOf(x)), x, order);
}

static Value zeros(NodeImport &node, nn::DimsRef dims, Value like) {
  return node.create<nn::BroadcastOp>(RankedTensorType::get(dims, elementOf(like)),
                                      node.scalar(0, like));
}

static FailureOr<Value> biasOf(NodeImport &node, const Layer &layer, Value like) {
  const nn::Dims dims{layer.directions, 2 * gatesOf(layer.cell) * layer.size};
  const Value bias = node.optionalTensor(3);
  if (bias && shapeOf(bias) != nn::DimsRef(dims))
    return node.error("expected B of shape " + nn::toString(dims) + ", got " +
                      nn::toString(shapeOf(bias)));
  return bias ? bias : zeros(node, dims, like);
}

/// Whether the operand is known to be zero for every sample, however many the file has. PyTorch
/// writes such states for the batch of its example.
static bool isZero(NodeImport &node, unsigned i, nn::DimsRef wanted, std::size_t batchDimension) {
  const std::string &name = node.inputName(i);
  const RankedTensorType type = node.state.values.typeOf(name);
  if (!type || type.getRank() != static_cast<std::int64_t>(wanted.size()))
    return false;
  for (std::size_t d = 0; d < wanted.size(); ++d)
    if (d != batchDimension && type.getDimSize(d) != wanted[d])
      return false;
  const RepeatedTensor *repeated = node.state.values.repeated(name);
  const ConstantTensor *known = repeated          ? &repeated->values
                                : node.isKnown(i) ? node.constant(i)
                                                  : nullptr;
  return known && known->isReal() &&
         llvm::all_of(known->reals, [](double value) { return value == 0; });
}

/// The states before the first step, [states, directions, batch, size], where `place` says the
/// samples are.
static FailureOr<Value> initialStates(NodeImport &node, const Layer &layer, Value like,
                                      BatchLayout::Place place) {
  llvm::SmallVector<Value> parts;
  const nn::Dims wanted = layer.isBatchFirst ? nn::Dims{layer.batch, layer.directions, layer.size}
                                             : nn::Dims{layer.directions, layer.batch, layer.size};
  nn::Dims one{1, layer.directions, layer.batch, layer.size};
  if (place)
    place->dim = 2;
  for (unsigned i = 5; i < 5 + statesOf(layer.cell); ++i) {
    Value part;
    if (node.hasInput(i) && !isZero(node, i, wanted, layer.isBatchFirst ? 0 : 1)) {
      part = node.tensor(i);
      if (!part || elementOf(part) != elementOf(like) || shapeOf(part) != nn::DimsRef(wanted))
        return node.error("expected " + llvm::Twine(i == 5 ? "initial_h" : "initial_c") +
                          " of shape " + nn::toString(wanted) + " and X's elements, got " +
                          (part ? nn::toString(shapeOf(part)) : "no tensor"));
      part = node.reshape(layer.isBatchFirst ? transposed(node, part, {1, 0, 2}) : part, one);
    } else {
      part = zeros(node, one, like);
      node.state.values.layout.set(part, place);
    }
    parts.push_back(part);
  }
  if (parts.size() == 1)
    return parts.front();
  one[0] = static_cast<std::int64_t>(parts.size());
  return node
      .create<nn::ConcatOp>(RankedTensorType::get(one, elementOf(like)), parts, std::uint64_t{0})
      .getResult();
}

/// Lengths of the samples as i64; null where all are whole.
static FailureOr<Value> lengthsOf(NodeImport &node, const Layer &layer) {
  if (!node.hasInput(4))
    return Value();
  const nn::Dims wanted{layer.batch};
  if (const ConstantTensor *known = node.constant(4)) {
    if (known->isReal() || known->dims != wanted)
      return node.error("expected " + llvm::Twine(layer.batch) +
                        " integers as sequence_lens, got " + nn::toString(known->dims));
    for (const std::int64_t length : known->ints)
      if (length < 0 || length > layer.steps)
        return node.error("expected sequence_lens of 0 to " + llvm::Twine(layer.steps) +
                          " steps, got " + llvm::Twine(length));
    if (llvm::all_of(known->ints, [&](std::int64_t length) { return length == layer.steps; }))
      return Value();
    const auto type = RankedTensorType::get(wanted, node.state.builder.getI64Type());
    const llvm::SmallVector<std::int64_t> values(known->ints.begin(), known->ints.end());
    const Value lengths = node.create<nn::ConstantOp>(
        type, DenseElementsAttr::get(type, ArrayRef<std::int64_t>(values)));
    node.state.values.layout.set(lengths, node.state.values.layout.of(*known));
    return lengths;
  }
  const Value lengths = node.tensor(4);
  if (!lengths || !elementOf(lengths).isInteger(64))
    return node.error("expected sequence_lens that are known or an int64 input, got '" +
                      node.inputName(4) + "'");
  if (shapeOf(lengths) != nn::DimsRef(wanted))
    return node.error("expected " + llvm::Twine(layer.batch) + " sequence_lens, got " +
                      nn::toString(shapeOf(lengths)));
  return lengths;
}

/// Y, [steps, directions, batch, size], or batch, steps, directions and size.
static LogicalResult defineOutputs(NodeImport &node, const Layer &layer, Value y) {
  if (!node.isUsed(0))
    return success();
  const auto &[cell, steps, batch, directions, size, isReverse, isBatchFirst] = layer;
  if (isBatchFirst)
    return node.define(
        transposed(node, node.reshape(y, {steps, batch, directions, size}), {1, 0, 2, 3}));
  if (directions == 1)
    return node.define(node.reshape(y, {steps, 1, batch, size}));
  return node.define(
      transposed(node, node.reshape(y, {steps, batch, directions, size}), {0, 2, 1, 3}));
}

/// Y_h and Y_c.
static LogicalResult defineStates(NodeImport &node, const Layer &layer, Value last) {
  nn::Dims dims(shapeOf(last)), starts(4, 0);
  const nn::Dims steps(4, 1);
  dims[0] = 1;
  for (unsigned i = 0; i < statesOf(layer.cell); ++i) {
    if (!node.isUsed(i + 1))
      continue;
    starts[0] = i;
    Value part = last;
    if (statesOf(layer.cell) > 1)
      part = node.create<nn::SliceOp>(RankedTensorType::get(dims, elementOf(last)), last, starts,
                                      steps);
    part = node.reshape(part, nn::DimsRef(dims).drop_front());
    if (failed(node.define(layer.isBatchFirst ? transposed(node, part, {1, 0, 2}) : part, i + 1)))
      return failure();
  }
  return success();
}

static LogicalResult importRecurrent(NodeImport &node) {
  SYNCLINE_TRY_MLIR(layer, readLayer(node));
  const auto &[cell, steps, batch, directions, size, isReverse, isBatchFirst] = *layer;
  const std::int64_t rows = directions * gatesOf(cell) * size;
  Value x = node.tensor(0);
  if (isBatchFirst)
    x = transposed(node, x, {1, 0, 2});
  const Value w = node.reshape(node.tensor(1), {rows, shapeOf(x)[2]});
  SYNCLINE_TRY_MLIR(products, createMatmul(node, x, false, w, true, {}));
  SYNCLINE_TRY_MLIR(bias, biasOf(node, *layer, x));
  SYNCLINE_TRY_MLIR(lengths, lengthsOf(node, *layer));
  SYNCLINE_TRY_MLIR(initial,
                    initialStates(node, *layer, x, node.state.values.layout.of(*products)));
  SYNCLINE_TRY_MLIR(saved, node.type(nn::Dims{directions, steps, batch, savedOf(cell) * size}, x));
  auto y = node.type(nn::Dims{steps, batch, directions * size}, x);
  if (failed(y))
    return failure();
  auto op =
      node.create<nn::RecurrentOp>(*y, initial->getType(), *saved, *products, node.tensor(2), *bias,
                                   *initial, *lengths, static_cast<std::uint64_t>(cell), isReverse);
  if (failed(defineOutputs(node, *layer, op.getY())))
    return failure();
  return defineStates(node, *layer, op.getLast());
}

OpRows frontend::recurrentOps() {
  static constexpr OpImport import{importRecurrent, 3, 4, /*floatOnly=*/true, /*onCuda=*/false};
  static constexpr OpRow rows[] = {{"GRU", import}, {"LSTM", import}, {"RNN", import}};
  return rows;
}
