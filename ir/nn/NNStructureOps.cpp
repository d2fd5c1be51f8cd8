// Verifies a step's structure: NN1 to NN5, NN30 and NN31.
#include "ir/nn/NN.h"
#include "ir/nn/Shapes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace syncline::nn;

#define GET_OP_CLASSES
#include "ir/nn/NNOps.cpp.inc"

static LogicalResult verifyNames(StepOp step) {
  llvm::StringMap<Operation *> seen;
  for (Operation &op : step.getBody().front()) {
    if (!isa<InputOp, TargetOp, ParameterOp, StateOp>(op))
      continue;
    StringRef name = op.getAttrOfType<StringAttr>("name").getValue();
    if (name.empty())
      return op.emitOpError("NN3: expected a name");
    auto [place, fresh] = seen.try_emplace(name, &op);
    if (fresh)
      continue;
    InFlightDiagnostic diagnostic = op.emitOpError("NN3: name '") << name << "' is taken";
    diagnostic.attachNote(place->second->getLoc()) << "by this operation";
    return diagnostic;
  }
  return success();
}

LogicalResult StepOp::verify() {
  if (static_cast<std::int64_t>(getBatch()) < 1)
    return emitOpError("NN1: expected a batch of at least 1, got ") << getBatch();
  Operation *loss = nullptr;
  llvm::DenseSet<Value> updated;
  for (Operation &op : getBody().front()) {
    if (isa<LossOp>(op)) {
      if (loss)
        return op.emitOpError("NN2: a step has one loss").attachNote(loss->getLoc())
               << "the first is here";
      loss = &op;
    }
    if (auto update = dyn_cast<UpdateOp>(op))
      if (!updated.insert(update.getParameter()).second)
        return op.emitOpError("NN4: the parameter is updated twice");
  }
  return verifyNames(*this);
}

static LogicalResult verifyStored(Operation *op, std::optional<std::uint64_t> offset,
                                  InitAttr init) {
  if (offset.has_value() == static_cast<bool>(init))
    return op->emitOpError("NN5: expected either 'at' with an offset or 'init'");
  return success();
}

LogicalResult ParameterOp::verify() { return verifyStored(*this, getOffset(), getInitAttr()); }

LogicalResult StateOp::verify() {
  if (getFixed() && !getOffset())
    return emitOpError("NN5: expected a constant to have its values 'at' an offset");
  return verifyStored(*this, getOffset(), getInitAttr());
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult UpdateOp::verify() {
  if (!getParameter().getDefiningOp<ParameterOp>())
    return emitOpError("NN4: expected the result of 'nn.parameter' as first operand");
  if (getParameter().getType() != getGradient().getType())
    return emitOpError("NN4: expected a gradient of the parameter's type ")
           << getParameter().getType() << ", got " << getGradient().getType();
  return success();
}

LogicalResult CrossEntropyOp::verify() {
  auto logits = cast<RankedTensorType>(getLogits().getType());
  auto target = cast<RankedTensorType>(getTarget().getType());
  if (logits.getRank() < 2)
    return emitOpError("NN30: expected logits of rank 2 or more, got ") << logits;
  Dims second(logits.getShape()), last(logits.getShape().drop_back());
  second.erase(second.begin() + 1);
  if ((target.getShape() != llvm::ArrayRef(second) && target.getShape() != llvm::ArrayRef(last)) ||
      !target.getElementType().isInteger())
    return emitOpError("NN30: expected integer targets of shape ")
           << toString(second) << (second == last ? "" : " or " + toString(last)) << ", got "
           << target;
  if (getGradient().getType() != logits)
    return emitOpError("NN30: expected a gradient of the logits' type ")
           << logits << ", got " << getGradient().getType();
  const std::int64_t classes =
      logits.getDimSize(target.getShape() == llvm::ArrayRef(second) ? 1 : logits.getRank() - 1);
  if (auto weights = getWeights();
      weights && weights.getType() != RankedTensorType::get({classes}, logits.getElementType()))
    return emitOpError("NN30: expected weights of type ")
           << RankedTensorType::get({classes}, logits.getElementType()) << ", got "
           << weights.getType();
  if (const llvm::APFloat smoothing = getSmoothing().value_or(llvm::APFloat(0.0));
      !(smoothing.convertToDouble() >= 0 && smoothing.convertToDouble() < 1))
    return emitOpError("NN30: expected a smoothing from 0 to below 1, got ")
           << smoothing.convertToDouble();
  return success();
}

LogicalResult MeanSquaredErrorOp::verify() {
  if (getValue().getType() != getTarget().getType() ||
      getValue().getType() != getGradient().getType())
    return emitOpError("NN31: expected value, target and gradient of one type, got ")
           << getValue().getType() << ", " << getTarget().getType() << " and "
           << getGradient().getType();
  return success();
}
