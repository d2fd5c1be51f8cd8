// Pass `pose-problem`: from a timed step or a trace to the instance of P1 that merging answers.
#include "ir/cluster/Cluster.h"
#include "ir/sync/Sync.h"
#include "passes/Passes.h"
#include "passes/cost/Timeline.h"
#include "passes/merge/MergeOps.h"

#include "mlir/IR/Builders.h"

namespace syncline {
#define GEN_PASS_DEF_POSEPROBLEM
#include "passes/Passes.h.inc"
} // namespace syncline

using namespace mlir;
using namespace syncline;

namespace {

FailureOr<cost::Timeline> timelineOf(Operation *source) {
  if (auto step = dyn_cast<nn::StepOp>(source))
    return cost::timelineOf(step);
  return cost::timelineOf(cast<sync::TraceOp>(source));
}

void createProblem(OpBuilder &builder, Location place, const cost::Timeline &timeline,
                   Attribute cost) {
  llvm::SmallVector<StringRef> names;
  llvm::SmallVector<std::int64_t> bytes;
  llvm::SmallVector<double> ready;
  for (const cost::ReadyGradient &gradient : timeline.gradients) {
    names.push_back(gradient.name);
    bytes.push_back(gradient.bytes);
    ready.push_back(gradient.ready);
  }
  auto ring = sync::OptionAttr::get(builder.getContext(), cluster::Scheme::ring, cost, 0.0);
  auto lane = sync::LaneAttr::get(builder.getContext(), {ring}, {}, {});
  builder.create<sync::ProblemOp>(
      place, builder.getStringAttr("merge"), builder.getStrArrayAttr(names),
      builder.getDenseI64ArrayAttr(bytes), timesAttr(builder, ready), builder.getArrayAttr({lane}),
      ArrayAttr(), DenseI64ArrayAttr(), DenseI64ArrayAttr(),
      builder.getF64FloatAttr(timeline.forward), builder.getF64FloatAttr(timeline.backwardEnd),
      builder.getF64FloatAttr(timeline.updates));
}

struct PoseProblem : syncline::impl::PoseProblemBase<PoseProblem> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto cluster = module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
    if (!cluster) {
      module.emitError("expected attribute '") << cluster::specAttr << "' on the module";
      return signalPassFailure();
    }
    Attribute cost = cluster::firstAllReduce(cluster);
    if (!cost) {
      module.emitError("expected a 'link' or the cost of an all-reduce in '")
          << cluster::specAttr << "', got neither";
      return signalPassFailure();
    }
    for (Operation &source : llvm::make_early_inc_range(*module.getBody())) {
      if (!isa<nn::StepOp, sync::TraceOp>(source))
        continue;
      FailureOr<cost::Timeline> timeline = timelineOf(&source);
      if (failed(timeline))
        return signalPassFailure();
      OpBuilder builder(&source);
      createProblem(builder, source.getLoc(), *timeline, cost);
    }
    if (module.getOps<sync::ProblemOp>().empty()) {
      module.emitError("expected an 'nn.step' or a 'sync.trace' to plan for");
      signalPassFailure();
    }
  }
};
} // namespace
