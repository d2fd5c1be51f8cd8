// Operation and byte counts, one line a kind of operation.
#include "passes/cost/Counts.h"

#include "ir/nn/NN.h"
#include "ir/plan/Kernels.h"
#include "syncline/ResampleFilter.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace syncline::cost {

static double elements(Value value) {
  double product = 1;
  for (std::int64_t size : cast<ShapedType>(value.getType()).getShape())
    product *= static_cast<double>(size);
  return product;
}

static double product(ArrayRef<std::int64_t> sizes) {
  double result = 1;
  for (std::int64_t size : sizes)
    result *= static_cast<double>(size);
  return result;
}

static double bytes(Value value) {
  const Type element = cast<ShapedType>(value.getType()).getElementType();
  return elements(value) * element.getIntOrFloatBitWidth() / 8;
}

static double movedBytes(Operation *op) {
  double total = 0;
  for (Value operand : op->getOperands())
    total += bytes(operand);
  for (Value result : op->getResults())
    total += bytes(result);
  return total;
}

/// Operations of a convolution: each element of `output` is a sum over C/groups · kernel products,
/// and `weights` has M times as many elements.
static double convolution(Value output, Value weights) {
  const auto outputChannels = cast<ShapedType>(weights.getType()).getShape()[0];
  return 2 * elements(output) * elements(weights) / static_cast<double>(outputChannels);
}

static double matmul(nn::MatmulOp op) {
  const auto a = cast<ShapedType>(op.getA().getType()).getShape();
  const auto inner = a[a.size() - (op.getTransposeA() ? 2 : 1)];
  return 2 * elements(op.getY()) * static_cast<double>(inner) +
         (op.getBias() ? elements(op.getY()) : 0);
}

/// Operations of a recurrent layer: the product of each step, and some 8 for each of its elements.
static double recurrent(Value x, Value weights) {
  const auto size = cast<ShapedType>(weights.getType()).getShape()[2];
  return (2 * static_cast<double>(size) + 8) * elements(x);
}

static double pointwise(nn::PointwiseOp op) {
  if (op.getOutputs().empty())
    return 0;
  const auto bodyOps = static_cast<double>(op.getBody().front().getOperations().size() - 1);
  return bodyOps * elements(op.getOutputs().front());
}

/// Operations of a resample of x to y, or of its gradient: products with the entries of a filter,
/// along one dimension after the other. Antialiasing has all of x's elements take part.
template <typename Op> static double resample(Op op, Value x, Value y) {
  const auto filter = static_cast<ResampleFilter>(op.getFilter());
  const bool isNearest = filter < ResampleFilter::linear;
  const double flops = isNearest ? 1 : filter == ResampleFilter::linear ? 4 : 8;
  const double count = op.getAntialias() ? std::max(elements(x), elements(y)) : elements(y);
  return flops * count * static_cast<double>(op.getAxes().size());
}

/// Estimated operations of the textbook forms, by element: the kernel table's, or a formula.
static double flopsOf(Operation *op) {
  const plan::KernelRow *kernel = plan::findRow(op->getName().getStringRef());
  if (kernel && kernel->flops)
    return *kernel->flops * elements(op->getOperand(0));
  return llvm::TypeSwitch<Operation *, double>(op)
      .Case([](nn::ConvOp o) {
        return convolution(o.getY(), o.getW()) + (o.getBias() ? elements(o.getY()) : 0);
      })
      .Case([](nn::ConvBackwardDataOp o) { return convolution(o.getDy(), o.getW()); })
      .Case([](nn::ConvBackwardWeightsOp o) {
        return convolution(o.getDy(), o.getDw()) + (o.getDbias() ? elements(o.getDy()) : 0);
      })
      .Case([](nn::MatmulOp o) { return matmul(o); })
      .Case([](nn::PointwiseOp o) { return pointwise(o); })
      .Case([](nn::MaxPoolOp o) { return elements(o.getY()) * product(o.getKernel()); })
      .Case([](nn::AveragePoolOp o) { return elements(o.getY()) * product(o.getKernel()); })
      .Case(
          [](nn::AveragePoolBackwardOp o) { return elements(o.getDy()) * product(o.getKernel()); })
      .Case([](nn::LrnOp o) { return (2.0 * o.getSize() + 4) * elements(o.getX()); })
      .Case([](nn::LrnBackwardOp o) { return (4.0 * o.getSize() + 8) * elements(o.getX()); })
      .Case([](nn::EmbeddingBackwardOp o) { return elements(o.getDy()); })
      .Case([](nn::RecurrentOp o) { return recurrent(o.getX(), o.getR()); })
      .Case([](nn::RecurrentBackwardOp o) { return 2 * recurrent(o.getDx(), o.getR()); })
      .Case([](nn::NoiseOp o) { return 16 * elements(o.getY()); })
      .Case([](nn::ResampleOp o) { return resample(o, o.getX(), o.getY()); })
      .Case([](nn::ResampleBackwardOp o) { return resample(o, o.getDx(), o.getDy()); })
      .Case<nn::UnaryOp, nn::UnaryBackwardOp, nn::BinaryOp, nn::PReluBackwardOp,
            nn::MaxPoolBackwardOp>([](Operation *o) { return elements(o->getResult(0)); })
      .Default([](Operation *) { return 0.0; });
}

Counts updateCounts(double elements, double bytes, OptimizerKind kind) {
  const bool hasTwoPasses = kind == OptimizerKind::lamb;
  const double flops = kind == OptimizerKind::sgd ? 4 : hasTwoPasses ? 25 : 13;
  return {flops * elements, (3 + 2 * stateSlots(kind) + (hasTwoPasses ? 3 : 0)) * bytes};
}

double readingShare(OptimizerKind kind) { return 1 / updateCounts(0, 1, kind).bytes; }

double addingShare(OptimizerKind kind) { return 3 * readingShare(kind); }

std::optional<Counts> countsOf(Operation *op) {
  if (isa<nn::InputOp, nn::TargetOp, nn::ParameterOp, nn::StateOp, nn::ConstantOp, nn::OutputOp,
          nn::LossOp, nn::YieldOp>(op) ||
      !isa_and_nonnull<nn::NNDialect>(op->getDialect()))
    return std::nullopt;
  if (isa<nn::ReshapeOp>(op))
    return Counts{};
  if (auto update = dyn_cast<nn::UpdateOp>(op))
    return updateCounts(elements(update.getParameter()), bytes(update.getParameter()),
                        nn::optimizerOf(op));
  if (auto rows = dyn_cast<nn::EmbeddingOp>(op)) // reads no other rows of the table
    return Counts{0, bytes(rows.getIds()) + 2 * bytes(rows.getY())};
  if (auto rows = dyn_cast<nn::GatherRowsOp>(op)) // reads no other entries
    return Counts{0, bytes(rows.getIndices()) + 2 * bytes(rows.getY())};
  if (auto rows = dyn_cast<nn::EmbeddingBackwardOp>(op); rows && rows.getOnto()) {
    // It touches no other rows, but where the gradient below has another reader and is copied.
    const double copied = rows.getOnto().hasOneUse() ? 0 : 2 * bytes(rows.getOnto());
    return Counts{flopsOf(op), bytes(rows.getIds()) + 3 * bytes(rows.getDy()) + copied};
  }
  return Counts{flopsOf(op), movedBytes(op)};
}

} // namespace syncline::cost
