// The pass `fuse-rows`: an embedding's rows are added onto the rest of the table's gradient.
#include "passes/Passes.h"
#include "passes/fuse/Combine.h"

#include "mlir/IR/Builders.h"

namespace syncline {
#define GEN_PASS_DEF_FUSEROWS
#include "passes/Passes.h.inc"
} // namespace syncline

using namespace mlir;
using namespace syncline::fuse;
using namespace syncline::nn;

/// The gradient of an embedding that an addition alone reads, and that is not added onto another
/// one yet; null for any other value.
static EmbeddingBackwardOp rowsOf(Value summand) {
  auto rows = summand.getDefiningOp<EmbeddingBackwardOp>();
  return rows && !rows.getOnto() && summand.hasOneUse() ? rows : EmbeddingBackwardOp();
}

/// Replaces an addition of rows. It stands in the addition's place, behind both summands.
static void fuseRows(BinaryOp sum, EmbeddingBackwardOp rows, Value onto) {
  OpBuilder builder(sum);
  auto fused = builder.create<EmbeddingBackwardOp>(sum.getLoc(), sum.getY().getType(),
                                                   rows.getIds(), rows.getDy(), onto);
  combineAttributes(fused, {rows, sum});
  sum.getY().replaceAllUsesWith(fused.getDtable());
  sum.erase();
  rows.erase();
}

static void fuseSum(BinaryOp sum) {
  const Value a = sum.getA(), b = sum.getB();
  if (sum.getKind() != BinaryKind::add || a.getType() != b.getType())
    return;
  if (EmbeddingBackwardOp rows = rowsOf(b))
    fuseRows(sum, rows, a);
  else if (EmbeddingBackwardOp rows = rowsOf(a))
    fuseRows(sum, rows, b);
}

static bool isUpdated(Value gradient) {
  return gradient.hasOneUse() && isa<UpdateOp>(*gradient.user_begin());
}

/// The operations of two operands that make a parameter's gradient, or a part of it to which others
/// are added. Readers stand behind what they read, so each is looked at once.
static DenseSet<Operation *> partsOfGradients(StepOp step) {
  DenseSet<Operation *> parts;
  for (Operation &op : llvm::reverse(step.getBody().front())) {
    auto sum = dyn_cast<BinaryOp>(op);
    if (!sum || !sum.getY().hasOneUse())
      continue;
    Operation *reader = *sum.getY().user_begin();
    auto next = dyn_cast<BinaryOp>(reader);
    if (isa<UpdateOp>(reader) ||
        (next && next.getKind() == BinaryKind::add && parts.contains(next)))
      parts.insert(sum);
  }
  return parts;
}

namespace {
struct FuseRows : syncline::impl::FuseRowsBase<FuseRows> {
  using FuseRowsBase::FuseRowsBase;

  void runOnOperation() override {
    const DenseSet<Operation *> parts = partsOfGradients(getOperation());
    for (auto op : llvm::make_early_inc_range(getOperation().getBody().getOps<BinaryOp>()))
      if (parts.contains(op) && !(keepTied && isUpdated(op.getY())))
        fuseSum(op);
  }
};
} // namespace
