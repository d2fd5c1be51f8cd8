// Builds the loss on a model's output.
#include "frontend/onnx/AttachLoss.h"

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

/// The operand of a softmax over dimension 1 that makes `output`; otherwise `output`. Before opset
/// 13 a softmax over several dimensions stands between two reshapes of its own node.
static Value logitsBeneath(ImportState &state, Value output) {
  Value value = output;
  if (auto reshape = value.getDefiningOp<nn::ReshapeOp>())
    if (auto softmax = reshape.getX().getDefiningOp<nn::SoftmaxOp>();
        softmax && nn::layerOf(softmax) == nn::layerOf(reshape))
      value = reshape.getX();
  auto softmax = value.getDefiningOp<nn::SoftmaxOp>();
  if (!softmax || softmax.getAxis() != 1)
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

static Value createTarget(ImportState &state, nn::DimsRef dims, Type element) {
  std::string name = targetName(state);
  return state.builder.create<nn::TargetOp>(NameLoc::get(state.builder.getStringAttr(name)),
                                            RankedTensorType::get(dims, element), name);
}

static Value createCrossEntropy(ImportState &state, Value output) {
  Value logits = dropUnitDimensions(state, logitsBeneath(state, output));
  nn::Dims dims(shapeOf(logits));
  dims.erase(dims.begin() + 1);
  Value target = createTarget(state, dims, state.builder.getI64Type());
  auto scalar = RankedTensorType::get({}, elementOf(logits));
  return create<nn::CrossEntropyOp>(state, scalar, logits.getType(), logits, target).getLoss();
}

static Value createMeanSquaredError(ImportState &state, Value output) {
  Value target = createTarget(state, shapeOf(output), elementOf(output));
  auto scalar = RankedTensorType::get({}, elementOf(output));
  return create<nn::MeanSquaredErrorOp>(state, scalar, output.getType(), output, target).getLoss();
}

Status frontend::attachLoss(ImportState &state, Value output, const std::string &name) {
  nn::DimsRef dims = shapeOf(output);
  std::string what = "output '" + name + "' of shape " + nn::toString(dims);
  if (!isa<FloatType>(elementOf(output)))
    return Status::badInput("output '" + name + "' is not floating-point");
  bool isClassifier = state.options.loss == nn::LossKind::cross_entropy;
  if (isClassifier && dims.size() < 2)
    return Status::badInput(what + ": a cross-entropy needs logits of shape [batch, classes, ...]");
  if (dims.empty() || dims[0] != state.batch)
    return Status::badInput(what + ": expected the batch, " + std::to_string(state.batch) +
                            ", as first dimension");
  state.builder.create<nn::OutputOp>(output.getLoc(), output, name);
  Value loss =
      isClassifier ? createCrossEntropy(state, output) : createMeanSquaredError(state, output);
  state.builder.create<nn::LossOp>(loss.getLoc(), loss);
  return Status::ok();
}
