// The interpreter's loop over a step, and the operations that bind and name tensors.
#include "tests/reference/Values.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace syncline::nn;

namespace syncline::reference {

static llvm::Error failure(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

static llvm::Error bind(StringRef name, Value result, const Bindings &bindings, Values &values) {
  auto found = bindings.find(name);
  if (found == bindings.end())
    return failure("no binding for '" + name + "'");
  if (found->second.shape != values.make(result).shape)
    return failure("expected a binding of another shape for '" + name + "'");
  values.set(result, found->second);
  return llvm::Error::success();
}

static Tensor constant(ConstantOp op, const Values &values) {
  Tensor result = values.make(op.getResult());
  auto elements = cast<DenseElementsAttr>(op.getValue());
  if (isa<FloatType>(elements.getElementType()))
    for (auto [place, value] : llvm::zip(result.values, elements.getValues<APFloat>())) {
      bool lossy;
      APFloat wide = value;
      wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
      place = wide.convertToDouble();
    }
  else
    for (auto [place, value] : llvm::zip(result.values, elements.getValues<APInt>()))
      place = static_cast<double>(value.getSExtValue());
  return result;
}

/// Operations that are about names; false for all others.
static llvm::Expected<bool> evaluateStructure(Operation *op, const Bindings &bindings,
                                              Values &values, StepResult &result) {
  if (isa<InputOp, TargetOp, ParameterOp, StateOp>(op)) {
    StringRef name = op->getAttrOfType<StringAttr>("name").getValue();
    if (llvm::Error error = bind(name, op->getResult(0), bindings, values))
      return error;
    if (isa<StateOp>(op))
      result.states[name] = values[op->getResult(0)];
  } else if (auto constantOp = dyn_cast<ConstantOp>(op)) {
    values.set(constantOp.getResult(), constant(constantOp, values));
  } else if (auto output = dyn_cast<OutputOp>(op)) {
    result.outputs[output.getName()] = values[output.getValue()];
  } else if (auto loss = dyn_cast<LossOp>(op)) {
    result.loss = values[loss.getValue()].values[0];
  } else if (auto update = dyn_cast<UpdateOp>(op)) {
    auto parameter = update.getParameter().getDefiningOp<ParameterOp>();
    result.gradients[parameter.getName()] = values[update.getGradient()];
  } else {
    return false;
  }
  return true;
}

llvm::Expected<StepResult> interpret(StepOp step, const Bindings &bindings) {
  StepResult result;
  Values values;
  for (Operation &op : step.getBody().front()) {
    llvm::Expected<bool> done = evaluateStructure(&op, bindings, values, result);
    if (!done)
      return done.takeError();
    if (!*done && !evaluateLinear(&op, values) && !evaluatePool(&op, values) &&
        !evaluateNormalization(&op, values, result.states) && !evaluatePointwise(&op, values) &&
        !evaluateResample(&op, values) && !evaluateRecurrent(&op, values) &&
        !evaluateShape(&op, values) && !evaluateIndex(&op, values) && !evaluateLoss(&op, values))
      return failure("the reference does not know '" + op.getName().getStringRef() + "'");
  }
  return result;
}

} // namespace syncline::reference
