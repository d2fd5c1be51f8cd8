// Builds the loss on a model's output.
#include "frontend/onnx/AttachLoss.h"

#include "frontend/onnx/FeatureAxis.h"

#include <utility>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

/// "target", or a name that no other tensor of the step has.
static std::string targetName(const ImportState &state) {
  std::string name = "target";
  auto isTaken = [&] {
    return state.index.initializers.count(name) || state.index.producers.count(name) ||
           state.index.uses.count(name);
  };
  while (isTaken())
    name += "_";
  return name;
}

/// The softmax that makes `output`; null where none does. Before opset 13 a softmax over several
/// dimensions stands between two reshapes of its own node.
static nn::SoftmaxOp softmaxOf(Value output) {
  Value value = output;
  if (auto reshape = value.getDefiningOp<nn::ReshapeOp>())
    if (auto softmax = reshape.getX().getDefiningOp<nn::SoftmaxOp>();
        softmax && nn::layerOf(softmax) == nn::layerOf(reshape))
      value = reshape.getX();
  return value.getDefiningOp<nn::SoftmaxOp>();
}

/// The dimension of the classes: as told, that of a softmax at the end, or where the last layer put
/// its features, if it is the second or the last. Elsewhere the second, as PyTorch's loss expects
/// it. A note says what was chosen.
static std::int64_t classAxis(ImportState &state, Value output) {
  const nn::DimsRef dims = shapeOf(output);
  const auto last = static_cast<std::int64_t>(dims.size()) - 1;
  if (state.options.classesIn != ClassesIn::automatic)
    return state.options.classesIn == ClassesIn::last ? last : 1;
  nn::SoftmaxOp softmax = softmaxOf(output);
  const bool isLast =
      softmax ? softmax.getY() == output && static_cast<std::int64_t>(softmax.getAxis()) == last
              : featureAxis(output) == last;
  const std::string size = std::to_string(isLast ? dims.back() : dims[1]);
  const std::string holds = std::string("the output's ") + (isLast ? "last" : "second") +
                            " dimension, " + size + ", holds the classes";
  const bool hasPositions = last > 1 && nn::elementCount(dims.drop_front(2)) > 1;
  if (softmax && isLast && last > 1)
    state.notes.add(holds);
  else if (!softmax && hasPositions)
    state.notes.add(holds + (isLast ? "; --classes-in 1 takes the second"
                                    : "; --classes-in -1 takes the last"));
  return isLast ? last : 1;
}

/// The operand of a softmax over the classes that makes `output`; otherwise `output`.
static Value logitsBeneath(ImportState &state, Value output, std::int64_t axis) {
  nn::SoftmaxOp softmax = softmaxOf(output);
  if (!softmax || static_cast<std::int64_t>(softmax.getAxis()) != axis)
    return output;
  state.notes.add(
      "the model ends in a softmax: the cross-entropy is taken on the logits beneath it, "
      "as PyTorch's CrossEntropyLoss expects them");
  return softmax.getX();
}

/// Creates an operation of the loss; these form a layer of their own.
template <typename Op, typename... Args> static Op create(ImportState &state, Args &&...args) {
  constexpr llvm::StringLiteral layer = "loss";
  auto op = state.builder.create<Op>(NameLoc::get(state.builder.getStringAttr(layer)),
                                     std::forward<Args>(args)...);
  op->setAttr(nn::layerAttr, state.builder.getStringAttr(layer));
  return op;
}

/// [N, C, 1, ..] as [N, C].
static Value dropUnitDimensions(ImportState &state, Value logits) {
  nn::DimsRef dims = shapeOf(logits);
  if (dims.size() <= 2 || nn::elementCount(dims.drop_front(2)) != 1)
    return logits;
  auto type = RankedTensorType::get(dims.take_front(2), elementOf(logits));
  return create<nn::ReshapeOp>(state, type, logits);
}

static Value createTarget(ImportState &state, Type type) {
  std::string name = targetName(state);
  return state.builder.create<nn::TargetOp>(NameLoc::get(state.builder.getStringAttr(name)), type,
                                            name);
}

/// The shape of the labels: that of the logits without the classes.
static nn::Dims withoutClasses(nn::DimsRef logits, std::int64_t axis) {
  nn::Dims dims(logits);
  dims.erase(dims.begin() + axis);
  return dims;
}

/// Moves the last dimension behind the first.
static Value classesSecond(ImportState &state, Value value) {
  const nn::DimsRef dims = shapeOf(value);
  nn::Dims order{0, static_cast<std::int64_t>(dims.size()) - 1}, moved{dims[0], dims.back()};
  for (std::int64_t i = 1; i < order[1]; ++i) {
    order.push_back(i);
    moved.push_back(dims[i]);
  }
  return create<nn::TransposeOp>(state, RankedTensorType::get(moved, elementOf(value)), value,
                                 order);
}

/// The values that output and loss share, so that evaluation computes the loss of training.
struct Logits {
  Value value;
  std::int64_t axis = 1; ///< the dimension of the classes
};

/// The logits of the output, from whose shape and the labels' everyone behind the import tells the
/// classes: the second dimension wins where both fit, so classes that are last are moved there.
static Logits logitsOf(ImportState &state, Value output, std::int64_t axis) {
  const Value logits = logitsBeneath(state, output, axis);
  const nn::DimsRef dims = shapeOf(logits);
  if (axis == 1 || withoutClasses(dims, axis) != withoutClasses(dims, 1))
    return {logits, axis};
  return {classesSecond(state, logits), 1};
}

/// The weights of classes as a constant of this shape; null where all are 1.
static Value classWeights(ImportState &state, nn::DimsRef dims, Type element) {
  llvm::SmallVector<Attribute> values;
  for (const double weight : state.options.loss.classWeights)
    values.push_back(FloatAttr::get(element, weight));
  if (values.empty())
    return {};
  auto type = RankedTensorType::get(dims, element);
  return create<nn::ConstantOp>(state, type, DenseElementsAttr::get(type, values));
}

static Value createCrossEntropy(ImportState &state, Logits scored, Value target) {
  const Value scores = scored.value;
  const Type element = elementOf(scores);
  const double smoothing = state.options.loss.smoothing;
  const Value weights = classWeights(state, {shapeOf(scores)[scored.axis]}, element);
  return create<nn::CrossEntropyOp>(
             state, RankedTensorType::get({}, element), scores.getType(), scores, target, weights,
             smoothing != 0 ? state.builder.getF64FloatAttr(smoothing) : FloatAttr())
      .getLoss();
}

static Value createMeanSquaredError(ImportState &state, Value output, Value target) {
  auto scalar = RankedTensorType::get({}, elementOf(output));
  return create<nn::MeanSquaredErrorOp>(state, scalar, output.getType(), output, target).getLoss();
}

static Value combine(ImportState &state, nn::BinaryKind kind, Value a, Value b) {
  return create<nn::BinaryOp>(state, a.getType(), kind, a, b);
}

static Value apply(ImportState &state, nn::UnaryKind kind, Value x, double alpha = 0,
                   double beta = 0) {
  return create<nn::UnaryOp>(state, x.getType(), kind, x, llvm::APFloat(alpha),
                             llvm::APFloat(beta));
}

static Value scalar(ImportState &state, double value, Type element) {
  auto type = RankedTensorType::get({}, element);
  return create<nn::ConstantOp>(state, type,
                                DenseElementsAttr::get(type, FloatAttr::get(element, value)));
}

static Value meanOf(ImportState &state, Value value) {
  const auto axes = llvm::to_vector(llvm::seq<std::int64_t>(0, shapeOf(value).size()));
  auto type = RankedTensorType::get({}, elementOf(value));
  return create<nn::ReduceOp>(state, type, nn::Reduction::mean, value, axes);
}

/// With d = y - target and c = d within ±beta it is c/beta·(d - c/2), which bends where PyTorch's
/// two branches meet.
static Value smoothDistance(ImportState &state, Value distance, double beta) {
  using Kind = nn::BinaryKind;
  const auto number = [&](double value) { return scalar(state, value, elementOf(distance)); };
  Value near = apply(state, nn::UnaryKind::clip, distance, -beta, beta);
  Value rest = combine(state, Kind::sub, distance, combine(state, Kind::mul, near, number(0.5)));
  return combine(state, Kind::mul, combine(state, Kind::mul, near, number(1 / beta)), rest);
}

/// target·log(1 + exp(-y)) + (1 - target)·log(1 + exp(y)). No part is below zero where targets are
/// probabilities, so that neither the loss nor its gradient cancels.
static Value logisticLoss(ImportState &state, Value y, Value target) {
  using Kind = nn::BinaryKind;
  Value less = combine(state, Kind::sub, target, scalar(state, 1, elementOf(y)));
  Value ifOne = apply(state, nn::UnaryKind::softplus, apply(state, nn::UnaryKind::neg, y));
  Value ifZero = apply(state, nn::UnaryKind::softplus, y);
  return combine(state, Kind::sub, combine(state, Kind::mul, target, ifOne),
                 combine(state, Kind::mul, less, ifZero));
}

/// A loss that is a mean over elements.
static Value createElementLoss(ImportState &state, Value output, Value target) {
  const TrainedLoss &loss = state.options.loss;
  if (loss.kind == LossKind::mse)
    return createMeanSquaredError(state, output, target);
  if (loss.kind == LossKind::bceWithLogits)
    return meanOf(state, logisticLoss(state, output, target));
  Value distance = combine(state, nn::BinaryKind::sub, output, target);
  return meanOf(state, loss.kind == LossKind::l1 ? apply(state, nn::UnaryKind::abs, distance)
                                                 : smoothDistance(state, distance, loss.beta));
}

/// Probabilities of which the loss's `smoothing` is spread over all classes, dimension 1.
static Value smoothed(ImportState &state, Value target) {
  const double smoothing = state.options.loss.smoothing;
  if (smoothing == 0)
    return target;
  const auto number = [&](double value) { return scalar(state, value, elementOf(target)); };
  return combine(state, nn::BinaryKind::add,
                 combine(state, nn::BinaryKind::mul, target, number(1 - smoothing)),
                 number(smoothing / static_cast<double>(shapeOf(target)[1])));
}

/// The mean of -Σ target·log softmax(logits) over predictions; classes are dimension 1.
static Value createSoftCrossEntropy(ImportState &state, Value scores, Value target) {
  Value logs = create<nn::SoftmaxOp>(state, scores.getType(), scores, std::uint64_t{1},
                                     /*logarithm=*/true);
  Value products = combine(state, nn::BinaryKind::mul, apply(state, nn::UnaryKind::neg, logs),
                           smoothed(state, target));
  nn::Dims along(shapeOf(scores).size() - 1, 1); // [C, 1, ..]
  along.front() = shapeOf(scores)[1];
  if (Value weights = classWeights(state, along, elementOf(scores)))
    products = combine(state, nn::BinaryKind::mul, products, weights);
  auto type = RankedTensorType::get(withoutClasses(shapeOf(scores), 1), elementOf(scores));
  Value sums = create<nn::ReduceOp>(state, type, nn::Reduction::sum, products,
                                    llvm::ArrayRef<std::int64_t>{1});
  return meanOf(state, sums);
}

/// The operand of a sigmoid that makes `output`, in its shape; otherwise `output`.
static Value logitsBeneathSigmoid(ImportState &state, Value output) {
  Value value = output;
  while (auto reshape = value.getDefiningOp<nn::ReshapeOp>())
    value = reshape.getX();
  auto sigmoid = value.getDefiningOp<nn::UnaryOp>();
  if (!sigmoid || sigmoid.getKind() != nn::UnaryKind::sigmoid)
    return output;
  state.notes.add("the model ends in a sigmoid: the loss is taken on the logits beneath it, as "
                  "PyTorch's BCEWithLogitsLoss expects them");
  return value == output ? sigmoid.getX()
                         : create<nn::ReshapeOp>(state, output.getType(), sigmoid.getX()).getY();
}

static std::string nameAndShape(const TrainedOutput &output) {
  return "output '" + output.name + "' of shape " + nn::toString(shapeOf(output.value));
}

/// What the loss on the output is computed from.
static Result<Logits> scoredOf(ImportState &state, const TrainedOutput &output) {
  const nn::DimsRef dims = shapeOf(output.value);
  const std::string what = nameAndShape(output);
  if (!isa<FloatType>(elementOf(output.value)))
    return Status::badInput("output '" + output.name + "' is not floating-point");
  const TrainedLoss &asked = state.options.loss;
  const bool isClassifier = asked.kind == LossKind::crossEntropy;
  if (isClassifier && dims.size() < 2)
    return Status::badInput(what + ": a cross-entropy needs logits of shape [batch, classes, ...]");
  if (dims.empty() || dims[0] != state.batch)
    return Status::badInput(what + ": expected the batch, " + std::to_string(state.batch) +
                            ", as first dimension");
  if (asked.kind == LossKind::bceWithLogits)
    return Logits{logitsBeneathSigmoid(state, output.value)};
  if (!isClassifier)
    return Logits{output.value};
  const std::int64_t axis = classAxis(state, output.value);
  if (asked.takesProbabilities && axis != 1)
    return Status::badInput(what + " has its classes last; 'targets=probabilities' expects them in "
                                   "the second dimension");
  return logitsOf(state, output.value, axis);
}

/// The target's type for what createLoss() takes.
static RankedTensorType targetType(ImportState &state, Logits scored) {
  if (!state.options.loss.hasClassTargets())
    return cast<RankedTensorType>(scored.value.getType());
  return RankedTensorType::get(withoutClasses(shapeOf(scored.value), scored.axis),
                               state.builder.getI64Type());
}

static Value createLoss(ImportState &state, Logits scored, Value target) {
  const TrainedLoss &asked = state.options.loss;
  if (asked.kind != LossKind::crossEntropy)
    return createElementLoss(state, scored.value, target);
  return asked.takesProbabilities ? createSoftCrossEntropy(state, scored.value, target)
                                  : createCrossEntropy(state, scored, target);
}

/// Each class has a weight, where there are any.
static Status expectWeights(const TrainedLoss &loss, const TrainedOutput &output,
                            std::int64_t classes) {
  if (loss.weightsFrom.empty() || std::cmp_equal(loss.classWeights.size(), classes))
    return Status::ok();
  return Status::badInput("'" + loss.weightsFrom + "': expected " + std::to_string(classes) +
                          " weights, one for each class of " + nameAndShape(output) + ", got " +
                          std::to_string(loss.classWeights.size()));
}

Status frontend::attachLoss(ImportState &state, llvm::ArrayRef<TrainedOutput> outputs) {
  const bool hasClasses = state.options.loss.hasClassTargets();
  Value target, sum;
  std::int64_t classes = 0;
  for (const TrainedOutput &output : outputs) {
    SYNCLINE_TRY_GET(found, scoredOf(state, output));
    Logits scored = *found;
    if (!target)
      state.builder.create<nn::OutputOp>(output.value.getLoc(), scored.value, output.name);
    if (state.options.loss.kind == LossKind::crossEntropy && scored.axis == 1)
      scored.value = dropUnitDimensions(state, scored.value);
    const RankedTensorType type = targetType(state, scored);
    const std::int64_t itsClasses = hasClasses ? shapeOf(scored.value)[scored.axis] : 0;
    if (!target) {
      target = createTarget(state, type);
      classes = itsClasses;
    }
    if (target.getType() != type || classes != itsClasses)
      return Status::badInput(nameAndShape(output) + " does not fit the targets of " +
                              nameAndShape(outputs.front()) +
                              ": losses that are added have the same");
    if (state.options.loss.kind == LossKind::crossEntropy)
      SYNCLINE_TRY(expectWeights(state.options.loss, output, shapeOf(scored.value)[scored.axis]));
    Value loss = createLoss(state, scored, target);
    if (output.weight != 1)
      loss =
          combine(state, nn::BinaryKind::mul, loss, scalar(state, output.weight, elementOf(loss)));
    sum = sum ? combine(state, nn::BinaryKind::add, sum, loss) : loss;
  }
  state.builder.create<nn::LossOp>(sum.getLoc(), sum);
  return Status::ok();
}
