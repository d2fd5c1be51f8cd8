// Losses that a model computes from classes: SoftmaxCrossEntropyLoss, NegativeLogLikelihoodLoss.
#include "frontend/onnx/IndexedRows.h"
#include "frontend/onnx/OpTable.h"

#include "llvm/ADT/Sequence.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;
using Kind = nn::BinaryKind;

static constexpr std::int64_t ignoredLabel = -100; ///< of nn.cross_entropy

namespace {

/// A node that compares scores [N, C, ...] with labels [N, ...].
struct ClassLoss {
  NodeImport &node;
  Value scores;
  std::int64_t classes = 0;
  nn::Dims dims = {}; ///< of the labels
  std::string reduction = {};
  bool ignores = false; ///< whether the node names a label that is ignored
  std::int64_t ignored = 0;

  Value combine(Kind kind, Value a, Value b) { return *createBinary(node, kind, a, b); }
};

/// The loss of each prediction, and by how much it counts in their mean.
struct Predictions {
  Value losses;
  Value weights; ///< null where each counts once
};

} // namespace

/// Checks labels that are known at import.
static LogicalResult checkKnownLabels(ClassLoss &loss) {
  const ConstantTensor *known = loss.node.isKnown(1) ? loss.node.constant(1) : nullptr;
  for (const std::int64_t label : known ? known->ints : std::vector<std::int64_t>())
    if ((label < 0 || label >= loss.classes) && !(loss.ignores && label == loss.ignored))
      return loss.node.error("expected labels from 0 to " + llvm::Twine(loss.classes - 1) +
                             ", got " + llvm::Twine(label));
  return success();
}

static FailureOr<ClassLoss> readLoss(NodeImport &node) {
  constexpr std::int64_t mostClasses = 1 << 24; // that f32 tells apart
  if (!node.state.isStep)
    return node.error("it is planned by its shapes alone");
  ClassLoss loss{node, node.tensor(0)};
  const nn::DimsRef scores = shapeOf(loss.scores);
  if (scores.size() < 2)
    return node.error("expected scores of shape [batch, classes, ...], got " +
                      nn::toString(scores));
  loss.classes = scores[1];
  if (loss.classes > mostClasses)
    return node.error("expected at most 2^24 classes, got " + llvm::Twine(loss.classes));
  loss.dims = nn::Dims(scores);
  loss.dims.erase(loss.dims.begin() + 1);
  const RankedTensorType labels = node.state.values.typeOf(node.inputName(1));
  if (!labels || !isWholeOperand(node, 1) || labels.getShape() != nn::DimsRef(loss.dims))
    return node.error("expected labels, integers of shape " + nn::toString(loss.dims) + ", as '" +
                      node.inputName(1) + "'" +
                      (labels ? ", got shape " + nn::toString(labels.getShape()) : ""));
  loss.reduction = node.text("reduction", "mean");
  if (loss.reduction != "mean" && loss.reduction != "sum" && loss.reduction != "none")
    return node.error("expected reduction none, sum or mean, got '" + loss.reduction + "'");
  loss.ignores = node.attribute("ignore_index") != nullptr;
  loss.ignored = node.integer("ignore_index", 0);
  if (failed(checkKnownLabels(loss)))
    return failure();
  return loss;
}

/// The weights of classes, operand 2; null where there is none, and with an error.
static Value classWeights(ClassLoss &loss) {
  NodeImport &node = loss.node;
  Value weights = node.optionalTensor(2);
  if (!weights || (elementOf(weights) == elementOf(loss.scores) &&
                   shapeOf(weights) == nn::DimsRef{loss.classes}))
    return weights;
  (void)node.error("expected weights of the scores' type and of shape " +
                   nn::toString({loss.classes}) + ", got shape " + nn::toString(shapeOf(weights)));
  return {};
}

/// One where the label counts, zero where it is ignored.
static Value countedOf(ClassLoss &loss, Value labels) {
  Value ignored = loss.node.scalar(static_cast<double>(loss.ignored), labels);
  Value isIgnored = loss.combine(Kind::mul, loss.combine(Kind::not_less, labels, ignored),
                                 loss.combine(Kind::not_less, ignored, labels));
  return loss.combine(Kind::sub, loss.node.scalar(1, labels), isIgnored);
}

/// The logarithm that each label names among the classes' ones, [N, C, ...].
static FailureOr<Value> namedOf(ClassLoss &loss, Value logarithms, Value labels) {
  const std::int64_t last = rankOf(logarithms) - 1;
  nn::Dims order = llvm::to_vector<6>(llvm::seq<std::int64_t>(0, last + 1)), one(loss.dims);
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  Value table = createTranspose(loss.node, logarithms, order);
  one.push_back(1);
  SYNCLINE_TRY_MLIR(named, createGatherRows(loss.node, table,
                                            {nn::Dims(shapeOf(table)),
                                             loss.node.reshape(labels, one), last, last}));
  return loss.node.reshape(*named, loss.dims);
}

static FailureOr<Predictions> predictionsOf(ClassLoss &loss, Value logarithms) {
  NodeImport &node = loss.node;
  Value labels = realOperand(node, 1), weights = labels ? classWeights(loss) : Value();
  if (node.failed())
    return failure();
  Value counted = loss.ignores ? countedOf(loss, labels) : Value();
  if (counted)
    labels = loss.combine(Kind::mask, labels, counted);
  labels = fromFront(node, labels, -loss.classes - 1); // no label counts from the last class
  SYNCLINE_TRY_MLIR(named, namedOf(loss, logarithms, labels));
  const auto masked = [&](Value x) { return counted ? loss.combine(Kind::mask, x, counted) : x; };
  Value losses = node.create<nn::UnaryOp>(named->getType(), nn::UnaryKind::neg, masked(*named),
                                          llvm::APFloat(0.0), llvm::APFloat(0.0));
  if (!weights)
    return Predictions{losses, counted};
  SYNCLINE_TRY_MLIR(ofLabel, createGatherRows(node, weights, {{loss.classes}, labels, 0, 0}));
  Value own = masked(*ofLabel);
  return Predictions{loss.combine(Kind::mul, losses, own), own};
}

static Value reduced(ClassLoss &loss, nn::Reduction kind, Value x) {
  const auto axes = llvm::to_vector<6>(llvm::seq<std::int64_t>(0, rankOf(x)));
  return loss.node.create<nn::ReduceOp>(RankedTensorType::get({}, elementOf(x)), kind, x, axes);
}

/// Defines the result from the classes' logarithms.
static LogicalResult defineLoss(ClassLoss &loss, Value logarithms) {
  SYNCLINE_TRY_MLIR(predictions, predictionsOf(loss, logarithms));
  const auto [losses, weights] = *predictions;
  if (loss.reduction == "none")
    return loss.node.define(losses);
  if (loss.reduction == "sum")
    return loss.node.define(reduced(loss, nn::Reduction::sum, losses));
  Value mean = reduced(loss, nn::Reduction::mean, losses);
  if (weights) // both means are over as many
    mean = loss.combine(Kind::div, mean, reduced(loss, nn::Reduction::mean, weights));
  return loss.node.define(mean);
}

static LogicalResult importLogLikelihood(NodeImport &node) {
  SYNCLINE_TRY_MLIR(loss, readLoss(node));
  return defineLoss(*loss, loss->scores);
}

/// The node as nn.cross_entropy, which has a kernel; null where it is something else.
static Value asCrossEntropy(ClassLoss &loss) {
  NodeImport &node = loss.node;
  const bool isUsual = loss.reduction == "mean" && !node.hasInput(2) && !node.isUsed(1) &&
                       loss.ignores && loss.ignored == ignoredLabel;
  Value labels = isUsual ? indicesOf(node, 1) : Value();
  if (!labels || !elementOf(labels).isInteger(64))
    return {};
  auto scalar = RankedTensorType::get({}, elementOf(loss.scores));
  return node
      .create<nn::CrossEntropyOp>(scalar, loss.scores.getType(), loss.scores, labels, Value(),
                                  FloatAttr())
      .getLoss();
}

static LogicalResult importCrossEntropy(NodeImport &node) {
  SYNCLINE_TRY_MLIR(loss, readLoss(node));
  if (Value whole = asCrossEntropy(*loss); whole || node.failed())
    return whole ? node.define(whole) : failure();
  Value logarithms = node.create<nn::SoftmaxOp>(loss->scores.getType(), loss->scores,
                                                std::uint64_t{1}, /*logarithm=*/true);
  if (node.isUsed(1) && failed(node.define(logarithms, 1)))
    return failure();
  return defineLoss(*loss, logarithms);
}

OpRows frontend::lossOps() {
  static constexpr OpRow rows[] = {
      {"NegativeLogLikelihoodLoss", {importLogLikelihood, 2, 1}},
      {"SoftmaxCrossEntropyLoss", {importCrossEntropy, 2, 1}},
  };
  return rows;
}
