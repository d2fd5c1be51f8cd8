// Sums and means over samples, by which a model ends that computes its loss.
#include "frontend/onnx/BatchLayout.h"

#include "frontend/onnx/ValueTypes.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

/// Whether the reduction adds up samples, and may.
bool BatchLayout::beginsTotal(nn::ReduceOp op, const BatchPlace &place) {
  const bool addsUp = op.getKind() == nn::Reduction::sum || op.getKind() == nn::Reduction::mean;
  if (!allowsTotals || !addsUp || !llvm::is_contained(op.getAxes(), place.dim))
    return false;
  // What divides a sum may be a number of the file, which counts the file's own samples.
  if (op.getKind() == nn::Reduction::sum && exported && *exported != batch)
    refuse("it would add up the batch, and the file may divide by its own, " +
           std::to_string(*exported) + ", in place of " + std::to_string(batch) +
           "; export the model with a dynamic batch dimension");
  totals.insert(op.getY());
  return true;
}

/// The mean over predictions.
BatchLayout::Place BatchLayout::ofCrossEntropy(nn::CrossEntropyOp op) {
  Place logits = along(op.getLogits(), {1}, "it would choose among classes along");
  Place labels = of(op.getTarget());
  if (labels && labels->dim > 0)
    ++labels->dim; // behind the classes
  if (logits && labels && *logits != *labels)
    return mixed("its labels have the batch elsewhere than its scores");
  if (!allowsTotals && (logits || labels))
    return mixed(
        "it would take the mean over samples; --loss output:NAME trains by a loss that the "
        "model computes");
  const bool fits = !logits || labels || isShared({op.getTarget(), 0}, *logits);
  if (fits && (logits || labels))
    totals.insert(op.getLoss());
  return {};
}

/// The place of a value. One that is computed from a total is a total, and has none.
BatchLayout::Place BatchLayout::checked(Value value, Place place) {
  Operation *op = value.getDefiningOp();
  if (!allowsTotals || !op)
    return place;
  const bool isFromTotal = llvm::any_of(op->getOperands(), [&](Value operand) {
    of(operand);
    return totals.contains(operand);
  });
  if (!isFromTotal)
    return place;
  totals.insert(value);
  return place ? mixed("it would compute samples from a sum or mean over all of them") : place;
}
