// Collects gradients: which values are active, accumulation, and sums over broadcast dimensions.
#include "passes/differentiate/Gradients.h"

#include "ir/nn/Derivatives.h"
#include "ir/nn/Shapes.h"
#include "passes/differentiate/Parts.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <map>

using namespace mlir;
using namespace syncline::differentiate;
using namespace syncline::nn;

Gradients::Gradients(StepOp step, LossOp loss) : builder(step.getContext()), current(loss) {
  builder.setInsertionPointToEnd(&step.getBody().front());
  findActive(step);
  seed = scalar(1, tensorType(loss.getValue()).getElementType());
  gradients[loss.getValue()] = seed;
}

void Gradients::findActive(StepOp step) {
  for (Operation &op : step.getBody().front()) {
    bool depends = isa<ParameterOp>(op) || llvm::any_of(op.getOpOperands(), [&](OpOperand &x) {
                     return active.contains(x.get()) && hasDerivative(x);
                   });
    if (!depends)
      continue;
    for (OpResult result : op.getResults())
      if (hasDerivative(result))
        active.insert(result);
  }
}

void Gradients::mark(Operation *op) {
  op->setAttr(backwardAttr, builder.getUnitAttr());
  if (auto layer = current->getAttrOfType<StringAttr>(layerAttr))
    op->setAttr(layerAttr, layer);
}

void Gradients::add(Value value, Value gradient) {
  if (!wanted(value))
    return;
  Value own = sumTo(gradient, tensorType(value));
  Value &sum = gradients[value];
  sum = sum ? binary(BinaryKind::add, sum, own) : own;
}

Gradients::Parts &Gradients::partsOf(Value value) {
  auto [found, isNew] = allParts.try_emplace(value);
  if (isNew) {
    const llvm::SmallVector<SliceOp> slices = slicesOf(value);
    found->second.axis = axisOfParts(slices);
    found->second.remaining = slices.size();
  }
  return found->second;
}

void Gradients::addPart(SliceOp slice, Value gradient) {
  Value x = slice.getX();
  if (Parts &parts = partsOf(x); parts.axis)
    parts.all.emplace_back(slice, gradient);
  else
    add(x, create<SliceBackwardOp>(x.getType(), gradient, slice.getStartsAttr(),
                                   slice.getStepsAttr()));
}

void Gradients::leave(Operation *forward) {
  auto slice = dyn_cast<SliceOp>(forward);
  if (!slice || !wanted(slice.getX()))
    return;
  Parts &parts = partsOf(slice.getX());
  if (--parts.remaining == 0 && !parts.all.empty())
    join(slice.getX(), parts);
}

void Gradients::join(Value value, const Parts &parts) {
  enter(parts.all.back().first);
  std::map<PartRange, Value> sums;
  for (auto [slice, gradient] : parts.all) {
    Value &sum = sums[rangeOf(slice, *parts.axis)];
    sum = sum ? binary(BinaryKind::add, sum, gradient) : gradient;
  }
  llvm::SmallVector<Value> run;
  std::int64_t begin = 0, end = 0; // of the run
  for (const auto &[range, sum] : sums) {
    if (!run.empty() && range.begin != end) {
      addRun(value, *parts.axis, begin, run);
      run.clear();
    }
    begin = run.empty() ? range.begin : begin;
    end = range.end;
    run.push_back(sum);
  }
  addRun(value, *parts.axis, begin, run);
}

/// Adds parts that lie side by side from `begin` on.
void Gradients::addRun(Value value, std::int64_t axis, std::int64_t begin, ValueRange parts) {
  const RankedTensorType type = tensorType(value);
  Dims dims(type.getShape()), starts(dims.size(), 0), steps(dims.size(), 1);
  dims[axis] = 0;
  for (Value part : parts)
    dims[axis] += tensorType(part).getDimSize(axis);
  starts[axis] = begin;
  Value run = parts.front();
  if (parts.size() > 1)
    run = create<ConcatOp>(RankedTensorType::get(dims, type.getElementType()), parts,
                           static_cast<std::uint64_t>(axis));
  if (run.getType() != type)
    run = create<SliceBackwardOp>(type, run, starts, steps);
  add(value, run);
}

Value Gradients::binary(BinaryKind kind, Value a, Value b) {
  Dims shape = llvm::cantFail(broadcastShape(tensorType(a).getShape(), tensorType(b).getShape()));
  auto type = RankedTensorType::get(shape, tensorType(a).getElementType());
  return create<BinaryOp>(type, kind, a, b);
}

Value Gradients::negate(Value value) {
  llvm::APFloat zero(0.0);
  return create<UnaryOp>(value.getType(), UnaryKind::neg, value, zero, zero);
}

Value Gradients::scalar(double value, Type element) {
  auto type = RankedTensorType::get({}, element);
  auto attribute = DenseElementsAttr::get(type, builder.getFloatAttr(element, value));
  return create<ConstantOp>(type, attribute);
}

Value Gradients::reshape(Value value, RankedTensorType type) {
  if (value.getType() == type)
    return value;
  return create<ReshapeOp>(type, value);
}

Value Gradients::sumTo(Value gradient, RankedTensorType type) {
  RankedTensorType from = tensorType(gradient);
  if (from == type)
    return gradient;
  Dims axes;
  std::int64_t extra = from.getRank() - type.getRank();
  for (std::int64_t i = 0; i < from.getRank(); ++i)
    if (i < extra || (type.getDimSize(i - extra) == 1 && from.getDimSize(i) != 1))
      axes.push_back(i);
  bool keep = extra == 0;
  auto reduced =
      RankedTensorType::get(reducedShape(from.getShape(), axes, keep), from.getElementType());
  Value sum = create<ReduceOp>(reduced, Reduction::sum, gradient, axes);
  return reshape(sum, type);
}

void Gradients::finish() {
  if (seed.use_empty())
    seed.getDefiningOp()->erase();
}
