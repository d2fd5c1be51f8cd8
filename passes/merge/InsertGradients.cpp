// The pass `insert-gradients`: puts a `sync.gradient`, whose scheme is not chosen yet, between
// every gradient and its update.
#include "ir/sync/Sync.h"
#include "passes/Passes.h"

#include "mlir/IR/Builders.h"

namespace syncline {
#define GEN_PASS_DEF_INSERTGRADIENTS
#include "passes/Passes.h.inc"
} // namespace syncline

using namespace mlir;
using namespace syncline;

namespace {
struct InsertGradients : syncline::impl::InsertGradientsBase<InsertGradients> {
  void runOnOperation() override {
    for (auto update : getOperation().getOps<nn::UpdateOp>()) {
      if (update.getGradient().getDefiningOp<sync::GradientOp>())
        continue;
      auto parameter = update.getParameter().getDefiningOp<nn::ParameterOp>();
      OpBuilder builder(update);
      auto agreed =
          builder.create<sync::GradientOp>(update.getLoc(), update.getGradient().getType(),
                                           update.getGradient(), parameter.getNameAttr());
      update.getGradientMutable().assign(agreed.getAgreed());
    }
  }
};
} // namespace
