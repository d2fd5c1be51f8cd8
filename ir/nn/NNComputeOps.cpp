// Verifies operations that compute: their shapes follow from the operands (NN10 to NN22).
#include "ir/nn/NN.h"
#include "ir/nn/Shapes.h"

#include "llvm/ADT/Sequence.h"

#include <cmath>

using namespace mlir;
using namespace syncline::nn;

#include "ir/nn/NNInterfaces.cpp.inc"

static DimsRef shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// Checks that the result has the shape that follows from the operands, or reports the rule.
static LogicalResult expectShape(Operation *op, StringRef rule, llvm::Expected<Dims> expected,
                                 Value result, StringRef what = "result") {
  if (!expected)
    return op->emitOpError(rule) << ": " << llvm::toString(expected.takeError());
  if (llvm::ArrayRef(*expected) == shapeOf(result))
    return success();
  return op->emitOpError(rule) << ": expected " << what << " of shape " << toString(*expected)
                               << ", got " << toString(shapeOf(result));
}

template <typename Op> static WindowRef windowOf(Op op, DimsRef kernel) {
  return {kernel, op.getStrides(), op.getDilations(), op.getPadsBegin(), op.getPadsEnd()};
}

/// Dimension `first` of a tensor and those behind it.
static llvm::SmallVector<int64_t> axesFrom(std::size_t first, Value x) {
  return llvm::to_vector(llvm::seq<int64_t>(first, shapeOf(x).size()));
}

llvm::SmallVector<int64_t> ConvOp::getComputedAxes() { return axesFrom(1, getX()); }
std::optional<int64_t> ConvOp::getFeatureAxis() { return 1; }
llvm::SmallVector<int64_t> ConvBackwardDataOp::getComputedAxes() { return axesFrom(1, getDy()); }
std::optional<int64_t> ConvBackwardDataOp::getFeatureAxis() { return 1; }

// Channels are pooled apart.
llvm::SmallVector<int64_t> MaxPoolOp::getComputedAxes() { return axesFrom(2, getX()); }
std::optional<int64_t> MaxPoolOp::getFeatureAxis() { return 1; }
llvm::SmallVector<int64_t> AveragePoolOp::getComputedAxes() { return axesFrom(2, getX()); }
std::optional<int64_t> AveragePoolOp::getFeatureAxis() { return 1; }

llvm::SmallVector<int64_t> LayerNormOp::getComputedAxes() {
  return axesFrom(shapeOf(getX()).size() - shapeOf(getScale()).size(), getX());
}

LogicalResult ConvOp::verify() {
  if (getBias() && shapeOf(getBias()) != DimsRef{shapeOf(getW())[0]})
    return emitOpError("NN10: expected a bias of one element per output channel, got ")
           << getBias().getType();
  return expectShape(*this, "NN10",
                     convShape(shapeOf(getX()), shapeOf(getW()), windowOf(*this, {}), getGroups()),
                     getY());
}

LogicalResult ConvBackwardDataOp::verify() {
  return expectShape(*this, "NN11",
                     convShape(shapeOf(getDx()), shapeOf(getW()), windowOf(*this, {}), getGroups()),
                     getDy(), "dy");
}

LogicalResult ConvBackwardWeightsOp::verify() {
  if (getDbias() && shapeOf(getDbias()) != DimsRef{shapeOf(getDw())[0]})
    return emitOpError("NN11: expected a bias gradient of one element per output channel, got ")
           << getDbias().getType();
  return expectShape(*this, "NN11",
                     convShape(shapeOf(getX()), shapeOf(getDw()), windowOf(*this, {}), getGroups()),
                     getDy(), "dy");
}

LogicalResult MatmulOp::verify() {
  if (failed(expectShape(
          *this, "NN12",
          matmulShape(shapeOf(getA()), getTransposeA(), shapeOf(getB()), getTransposeB()), getY())))
    return failure();
  if (getBias())
    return expectShape(*this, "NN12", broadcastShape(shapeOf(getBias()), shapeOf(getY())), getY());
  return success();
}

LogicalResult MaxPoolOp::verify() {
  if (shapeOf(getWorkspace()) != shapeOf(getY()))
    return emitOpError("NN13: expected a workspace of the result's shape, got ")
           << getWorkspace().getType();
  return expectShape(*this, "NN13", poolShape(shapeOf(getX()), windowOf(*this, getKernel())),
                     getY());
}

LogicalResult MaxPoolBackwardOp::verify() {
  if (shapeOf(getWorkspace()) != shapeOf(getDy()))
    return emitOpError("NN13: expected a workspace of dy's shape, got ")
           << getWorkspace().getType();
  return expectShape(*this, "NN13", poolShape(shapeOf(getDx()), windowOf(*this, getKernel())),
                     getDy(), "dy");
}

LogicalResult AveragePoolOp::verify() {
  return expectShape(*this, "NN13", poolShape(shapeOf(getX()), windowOf(*this, getKernel())),
                     getY());
}

LogicalResult AveragePoolBackwardOp::verify() {
  return expectShape(*this, "NN13", poolShape(shapeOf(getDx()), windowOf(*this, getKernel())),
                     getDy(), "dy");
}

/// NN14: every statistic, scale and shift has one element for each channel.
static LogicalResult verifyChannels(Operation *op, Value x, ValueRange perChannel) {
  if (shapeOf(x).size() < 2)
    return op->emitOpError("NN14: expected x of rank 2 or more, got ") << x.getType();
  for (Value value : perChannel)
    if (shapeOf(value) != DimsRef{shapeOf(x)[1]})
      return op->emitOpError("NN14: expected one element for each of the ")
             << shapeOf(x)[1] << " channels, got " << value.getType();
  return success();
}

LogicalResult BatchNormOp::verify() {
  if (!getRunningMean().getDefiningOp<StateOp>() || !getRunningVariance().getDefiningOp<StateOp>())
    return emitOpError("NN14: expected results of 'nn.state' as running statistics");
  if (getY().getType() != getX().getType())
    return emitOpError("NN14: expected a result of x's type, got ") << getY().getType();
  if (static_cast<bool>(getWorkspace()) != (getActivation() != Activation::none))
    return emitOpError("NN14: a workspace comes with a fused activation, and only then");
  return verifyChannels(
      *this, getX(),
      {getScale(), getShift(), getRunningMean(), getRunningVariance(), getMean(), getVariance()});
}

LogicalResult BatchNormBackwardOp::verify() {
  if (getDy().getType() != getX().getType() || getDx().getType() != getX().getType())
    return emitOpError("NN14: expected dy and dx of x's type ") << getX().getType();
  if (static_cast<bool>(getWorkspace()) != (getActivation() != Activation::none))
    return emitOpError("NN14: a workspace comes with a fused activation, and only then");
  return verifyChannels(*this, getX(),
                        {getScale(), getMean(), getVariance(), getDscale(), getDshift()});
}

/// NN17: what is learned has the shape of x's last dimensions.
static LogicalResult verifyLayerNorm(Operation *op, Value x, ValueRange learned,
                                     const llvm::APFloat &epsilon) {
  const DimsRef dims = shapeOf(x);
  for (Value value : learned) {
    const DimsRef own = shapeOf(value);
    if (own.empty() || own.size() > dims.size() || own != dims.take_back(own.size()) ||
        value.getType() != learned.front().getType())
      return op->emitOpError("NN17: expected scale and shift of the last dimensions of ")
             << x.getType() << ", got " << value.getType();
  }
  if (epsilon.isNegative() || epsilon.isNaN())
    return op->emitOpError("NN17: expected an epsilon that is not negative");
  return success();
}

LogicalResult LayerNormOp::verify() {
  return verifyLayerNorm(*this, getX(), getOperands().drop_front(), getEpsilon());
}

LogicalResult LayerNormBackwardOp::verify() {
  return verifyLayerNorm(*this, getX(), getScale(), getEpsilon());
}

static LogicalResult verifyAxis(Operation *op, std::int64_t axis, Value operand) {
  if (axis < 0 || axis >= static_cast<std::int64_t>(shapeOf(operand).size()))
    return op->emitOpError("NN15: expected an axis within the operand's rank, got ") << axis;
  return success();
}

LogicalResult SoftmaxOp::verify() { return verifyAxis(*this, getAxis(), getX()); }

LogicalResult SoftmaxBackwardOp::verify() { return verifyAxis(*this, getAxis(), getY()); }

static LogicalResult verifyDropout(Operation *op, double ratio, Value x, Value mask) {
  if (!(ratio >= 0 && ratio < 1))
    return op->emitOpError("NN16: expected a ratio in [0, 1), got ") << ratio;
  if (shapeOf(mask) != shapeOf(x))
    return op->emitOpError("NN16: expected a mask of the operand's shape, got ") << mask.getType();
  return success();
}

LogicalResult DropoutOp::verify() {
  if (getY().getType() != getX().getType())
    return emitOpError("NN16: expected a result of the operand's type, got ") << getY().getType();
  return verifyDropout(*this, getRatio().convertToDouble(), getX(), getMask());
}

LogicalResult DropoutBackwardOp::verify() {
  return verifyDropout(*this, getRatio().convertToDouble(), getDy(), getMask());
}

LogicalResult NoiseOp::verify() {
  const double first = getFirst().convertToDouble(), second = getSecond().convertToDouble();
  if (!std::isfinite(first) || !std::isfinite(second) || !getEvaluated().isFinite())
    return emitOpError("NN19: expected finite numbers");
  switch (getDistribution()) {
  case 0:
    return first <= second
               ? success()
               : emitOpError("NN19: expected bounds in order, got ") << first << " and " << second;
  case 1:
    return second >= 0 ? success()
                       : emitOpError("NN19: expected a deviation of at least 0, got ") << second;
  case 2:
    return first >= 0 && first <= 1
               ? success()
               : emitOpError("NN19: expected a probability in [0, 1], got ") << first;
  default:
    return emitOpError("NN19: expected a distribution from 0 to 2, got ") << getDistribution();
  }
}

LogicalResult BinaryOp::verify() {
  return expectShape(*this, "NN20", broadcastShape(shapeOf(getA()), shapeOf(getB())), getY());
}

LogicalResult PReluBackwardOp::verify() {
  return expectShape(*this, "NN20", broadcastShape(shapeOf(getA()), shapeOf(getB())), getDa());
}

LogicalResult BroadcastOp::verify() {
  return expectShape(*this, "NN20", broadcastShape(shapeOf(getX()), shapeOf(getY())), getY());
}

LogicalResult PointwiseOp::verify() {
  Block &body = getBody().front();
  Operation *yield = body.getTerminator();
  if (getOutputs().empty() || body.getNumArguments() != getInputs().size() ||
      yield->getNumOperands() != getOutputs().size())
    return emitOpError(
        "NN22: expected one body argument an operand and one yielded value a result");
  DimsRef shape = shapeOf(getOutputs()[0]);
  for (auto [argument, input] : llvm::zip(body.getArguments(), getInputs())) {
    if (argument.getType() != cast<RankedTensorType>(input.getType()).getElementType())
      return emitOpError("NN22: expected body arguments of the operands' element types");
    if (failed(expectShape(*this, "NN22", broadcastShape(shapeOf(input), shape), getOutputs()[0])))
      return failure();
  }
  for (auto [value, output] : llvm::zip(yield->getOperands(), getOutputs()))
    if (shapeOf(output) != shape ||
        value.getType() != cast<RankedTensorType>(output.getType()).getElementType())
      return emitOpError("NN22: expected results of one shape with the yielded element types");
  return success();
}
