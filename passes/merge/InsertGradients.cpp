// The pass `insert-gradients`: puts a `sync.gradient`, whose scheme is not chosen yet, between
// every gradient and its update.
#include "ir/sync/Sync.h"
#include "passes/Passes.h"
#include "passes/cost/TiedGradients.h"

#include "mlir/IR/Builders.h"

namespace syncline {
#define GEN_PASS_DEF_INSERTGRADIENTS
#include "passes/Passes.h.inc"
} // namespace syncline

using namespace mlir;
using namespace syncline;

namespace {
struct InsertGradients : syncline::impl::InsertGradientsBase<InsertGradients> {
  using InsertGradientsBase::InsertGradientsBase;

  void runOnOperation() override {
    for (auto update : getOperation().getOps<nn::UpdateOp>()) {
      if (update.getGradient().getDefiningOp<sync::GradientOp>())
        continue;
      auto parameter = update.getParameter().getDefiningOp<nn::ParameterOp>();
      const std::optional<cost::TiedGradient> tied =
          splitTied ? cost::tiedGradientOf(update) : std::nullopt;
      if (!tied) {
        agreeOn(update.getGradientMutable(), parameter.getName());
        continue;
      }
      agreeOn(*tied->dense, parameter.getName());
      agreeOn(*tied->rows, cost::rowsNameOf(parameter.getName()));
    }
  }

private:
  /// Puts a `sync.gradient` between an operand and the operation that reads it.
  static void agreeOn(OpOperand &local, const Twine &name) {
    OpBuilder builder(local.getOwner());
    auto agreed =
        builder.create<sync::GradientOp>(local.getOwner()->getLoc(), local.get().getType(),
                                         local.get(), builder.getStringAttr(name));
    local.set(agreed.getAgreed());
  }
};
} // namespace
