// BatchNormalization, LayerNormalization, LRN, Softmax, LogSoftmax, Dropout.
#include "frontend/onnx/OpTable.h"

#include "onnx/onnx_pb.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

/// (x - mean)·(scale/sqrt(variance + epsilon)) + shift, by statistics that stay as they are.
static FailureOr<Value> normalizeFrozen(NodeImport &node, Value x, Value scale, Value shift,
                                        Value mean, Value variance, double epsilon) {
  using Kind = nn::BinaryKind;
  nn::Dims dims(shapeOf(x).size() - 1, 1); // broadcast over all but the channels
  dims[0] = shapeOf(x)[1];
  const auto spread = [&](Value value) { return node.reshape(value, dims); };
  SYNCLINE_TRY_MLIR(sum, createBinary(node, Kind::add, variance, node.scalar(epsilon, x)));
  const Value deviation = node.create<nn::UnaryOp>(sum->getType(), nn::UnaryKind::sqrt, *sum,
                                                   llvm::APFloat(0.0), llvm::APFloat(0.0));
  FailureOr<Value> factor = createBinary(node, Kind::div, scale, deviation);
  FailureOr<Value> y = createBinary(node, Kind::sub, x, spread(mean));
  if (succeeded(y))
    y = createBinary(node, Kind::mul, *y, spread(*factor));
  return succeeded(y) ? createBinary(node, Kind::add, *y, spread(shift)) : y;
}

/// Normalizes by x's own mean and biased variance, in evaluation too: weight standardisation
/// normalizes a weight so, and has no running statistics.
static FailureOr<Value> normalizeByItself(NodeImport &node, Value x, Value scale, Value shift,
                                          double epsilon) {
  nn::Dims axes{0};
  for (std::int64_t d = 2; d < rankOf(x); ++d)
    axes.push_back(d);
  auto type = RankedTensorType::get({shapeOf(x)[1]}, elementOf(x));
  const auto meanOf = [&](Value value) {
    return node.create<nn::ReduceOp>(type, nn::Reduction::mean, value, axes).getY();
  };
  Value mean = meanOf(x);
  nn::Dims dims(shapeOf(x).size() - 1, 1);
  dims[0] = shapeOf(x)[1];
  SYNCLINE_TRY_MLIR(apart, createBinary(node, nn::BinaryKind::sub, x, node.reshape(mean, dims)));
  SYNCLINE_TRY_MLIR(squares, createBinary(node, nn::BinaryKind::mul, *apart, *apart));
  return normalizeFrozen(node, x, scale, shift, mean, meanOf(*squares), epsilon);
}

/// Imports a normalization whose running statistics are no stored tensors, but computed.
static LogicalResult importComputedStatistics(NodeImport &node, double epsilon) {
  Value x = node.tensor(0), scale = node.tensor(1), shift = node.tensor(2);
  Value mean = node.tensor(3), variance = node.tensor(4);
  auto channels = RankedTensorType::get({shapeOf(x)[1]}, elementOf(x));
  for (Value value : {scale, shift, mean, variance})
    if (!value || value.getType() != channels)
      return node.error("expected one element for each of the " + llvm::Twine(shapeOf(x)[1]) +
                        " channels");
  const bool isOwn = node.integer("training_mode", 0) != 0;
  if (isOwn && nn::elementCount(shapeOf(x)) == shapeOf(x)[1])
    return node.error("'" + node.inputName(0) + "' has one value for each channel, " +
                      nn::toString(shapeOf(x)) + "; expected more");
  FailureOr<Value> y = isOwn ? normalizeByItself(node, x, scale, shift, epsilon)
                             : normalizeFrozen(node, x, scale, shift, mean, variance, epsilon);
  return failed(y) ? failure() : node.define(*y);
}

/// Says what becomes of running statistics of which nothing, or all, is new in each step.
static void noteMomentum(NodeImport &node, double momentum) {
  const std::string rest = ", by which evaluation and the saved model compute; PyTorch's default "
                           "is 0.9 in a file";
  if (momentum == 1)
    node.state.notes.add("momentum 1 leaves the running statistics as they are" + rest,
                         node.layerName());
  else if (momentum == 0)
    node.state.notes.add("momentum 0 makes the running statistics those of the last batch" + rest,
                         node.layerName());
}

// Uses the batch's statistics even in models exported for inference, since it trains them.
static LogicalResult importBatchNormalization(NodeImport &node) {
  if (node.integer("spatial", 1) == 0) // opset 7 only
    return node.error("spatial = 0 (statistics of every element) is not supported");
  for (unsigned i = 1; i < node.outputCount(); ++i)
    if (node.isUsed(i))
      return node.error("its statistics are not supported as results");
  double epsilon = node.real("epsilon", 1e-5), momentum = node.real("momentum", 0.9);
  if (!(epsilon >= 0) || !(momentum >= 0 && momentum <= 1))
    return node.error("expected an epsilon that is not negative and a momentum in [0, 1]");
  if (rankOf(node.tensor(0)) >= 2 && !node.state.values.isStored(node.inputName(3)) &&
      !node.state.values.isStored(node.inputName(4)) && !node.isBatched(0))
    return importComputedStatistics(node, epsilon);
  Value x = node.tensor(0), scale = node.tensor(1), shift = node.tensor(2);
  Value mean = node.runningStatistic(3), variance = node.runningStatistic(4);
  if (!mean || !variance)
    return node.error("expected running mean and variance");
  nn::DimsRef dims = shapeOf(x);
  if (dims.size() < 2)
    return node.error("expected x of rank 2 or more, got " + nn::toString(dims));
  auto channels = RankedTensorType::get({dims[1]}, elementOf(x));
  for (Value value : {scale, shift, mean, variance})
    if (value.getType() != channels)
      return node.error("expected one element for each of the " + llvm::Twine(dims[1]) +
                        " channels, got " + nn::toString(shapeOf(value)));
  if (node.state.index.normalizations.frozen.contains(node.proto.output(0))) {
    FailureOr<Value> y = normalizeFrozen(node, x, scale, shift, mean, variance, epsilon);
    return failed(y) ? failure() : node.define(*y);
  }
  if (nn::elementCount(dims) == dims[1]) { // refused for a plan without a step, too
    node.state.values.status = Status::badInput(
        "'" + node.inputName(0) + "' has one value for each channel, " + nn::toString(dims) +
        ", and " + node.describe() + " takes their mean and variance in training; expected more");
    return failure();
  }
  noteMomentum(node, momentum);
  // ONNX's momentum is the share that stays, nn's the share that is new.
  auto norm = node.create<nn::BatchNormOp>(x.getType(), channels, channels, Type(), x, scale, shift,
                                           mean, variance, llvm::APFloat(epsilon),
                                           llvm::APFloat(1 - momentum), nn::Activation::none);
  return node.define(norm.getY());
}

static LogicalResult importLayerNormalization(NodeImport &node) {
  for (unsigned i = 1; i < node.outputCount(); ++i)
    if (node.isUsed(i))
      return node.error("its statistics are not supported as results");
  double epsilon = node.real("epsilon", 1e-5);
  if (!(epsilon >= 0))
    return node.error("expected an epsilon that is not negative, got " + decimal(epsilon));
  Value x = node.tensor(0), scale = node.tensor(1), shift = node.optionalTensor(2);
  nn::DimsRef dims = shapeOf(x);
  SYNCLINE_TRY_MLIR(axis, node.axis(node.integer("axis", -1), dims.size()));
  for (Value value : {scale, shift})
    if (value && shapeOf(value) != dims.drop_front(*axis))
      return node.error("expected scale and shift of the normalized dimensions " +
                        nn::toString(dims.drop_front(*axis)) + ", got " +
                        nn::toString(shapeOf(value)));
  return node.define(
      node.create<nn::LayerNormOp>(x.getType(), x, scale, shift, llvm::APFloat(epsilon)));
}

static LogicalResult importLrn(NodeImport &node) {
  std::int64_t size = node.integer("size", 0);
  if (size < 1 || node.dims(0).size() < 2)
    return node.error("expected a size of at least 1 and x of rank 2 or more");
  Value x = node.tensor(0);
  auto lrn = node.create<nn::LrnOp>(
      x.getType(), x, static_cast<std::uint64_t>(size), llvm::APFloat(node.real("alpha", 1e-4)),
      llvm::APFloat(node.real("beta", 0.75)), llvm::APFloat(node.real("bias", 1)));
  return node.define(lrn.getY());
}

// Since opset 13 along one axis; before, over all dimensions from `axis` on, as one.
static LogicalResult importSoftmax(NodeImport &node) {
  Value x = node.tensor(0);
  nn::Dims dims(shapeOf(x));
  bool flattens = node.opset() < 13;
  SYNCLINE_TRY_MLIR(axis, node.axis(node.integer("axis", flattens ? 1 : -1), dims.size()));
  Value operand = x;
  nn::DimsRef tail = nn::DimsRef(dims).drop_front(*axis);
  std::int64_t count = nn::elementCount(tail);
  if (flattens && count != tail[0]) {
    operand = node.reshape(x, {nn::elementCount(dims) / count, count});
    axis = 1;
  }
  auto softmax = node.create<nn::SoftmaxOp>(
      operand.getType(), operand, static_cast<std::uint64_t>(*axis), node.op() == "LogSoftmax");
  return node.define(node.reshape(softmax.getY(), dims));
}

static LogicalResult importDropout(NodeImport &node) {
  if (node.isUsed(1))
    return node.error("its mask is not supported as a result");
  double ratio = node.number("ratio", 1).value_or(0.5);
  if (!(ratio >= 0 && ratio < 1))
    return node.error("expected a ratio in [0, 1), got " + decimal(ratio));
  if (!node.state.options.dropout || ratio == 0)
    return node.defineAlias();
  Value x = node.tensor(0);
  auto bytes = IntegerType::get(x.getContext(), 8, IntegerType::Unsigned);
  auto mask = RankedTensorType::get(shapeOf(x), bytes);
  return node.define(node.create<nn::DropoutOp>(x.getType(), mask, x, llvm::APFloat(ratio)).getY());
}

OpRows frontend::normalizationOps() {
  static constexpr OpRow rows[] = {
      {"BatchNormalization", {importBatchNormalization, 5, 3}},
      {"Dropout", {importDropout, 1, 1}},
      {"LRN", {importLrn, 1, 1}},
      {"LayerNormalization", {importLayerNormalization, 2, 3}},
      {"LogSoftmax", {importSoftmax, 1, 1}},
      {"Softmax", {importSoftmax, 1, 1}},
  };
  return rows;
}
