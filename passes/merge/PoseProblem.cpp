// The pass `pose-problem`: states the sync problem of a cluster and a timed step or a trace.
#include "ir/Refusal.h"
#include "ir/Try.h"
#include "ir/cluster/Cluster.h"
#include "ir/sync/Consistency.h"
#include "passes/Passes.h"
#include "passes/merge/Instance.h"
#include "passes/merge/WriteProblem.h"

#include "mlir/IR/Builders.h"

namespace syncline {
#define GEN_PASS_DEF_POSEPROBLEM
#include "passes/Passes.h.inc"
} // namespace syncline

using namespace mlir;
using namespace syncline;
using namespace syncline::merge;

namespace {

/// The timeline of a step or a trace. A step's times are already those of the slowest node.
FailureOr<cost::Timeline> timelineOf(Operation *source, double slowdown) {
  if (auto step = dyn_cast<nn::StepOp>(source))
    return cost::timelineOf(step);
  return cost::timelineOf(cast<sync::TraceOp>(source), slowdown);
}

struct PoseProblem : syncline::impl::PoseProblemBase<PoseProblem> {
  using PoseProblemBase::PoseProblemBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto cluster = module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
    if (!cluster) {
      module.emitError("expected attribute '") << cluster::specAttr << "' on the module";
      return signalPassFailure();
    }
    for (Operation &source : llvm::make_early_inc_range(*module.getBody()))
      if (isa<nn::StepOp, sync::TraceOp>(source))
        if (failed(pose(&source, cluster)))
          return signalPassFailure();
    if (module.getOps<sync::ProblemOp>().empty()) {
      module.emitError("expected an 'nn.step' or a 'sync.trace' to plan for");
      signalPassFailure();
    }
  }

  LogicalResult pose(Operation *source, cluster::SpecAttr cluster) {
    Result<sync::ConsistencyAttr> local = sync::parseConsistency(consistency, source->getContext());
    if (!local)
      return refuse(source->getLoc()) << local.status().message();
    if (*local)
      return pose(source, sync::ofOneRank(cluster), {}, *local);
    return pose(source, cluster, requested, {});
  }

  LogicalResult pose(Operation *source, cluster::SpecAttr cluster,
                     llvm::ArrayRef<std::string> asked, sync::ConsistencyAttr local) {
    llvm::SmallVector<RequestedScheme> patterns;
    for (const std::string &text : asked) {
      Result<RequestedScheme> pattern = parseRequestedScheme(text);
      if (!pattern)
        return refuse(source->getLoc()) << pattern.status().message();
      patterns.push_back(*pattern);
    }
    Result<cost::SchemeCatalog> catalog = cost::catalogOf(cluster, cluster::wireOf(source));
    if (!catalog)
      return refuse(source->getLoc()) << catalog.status().message();
    SYNCLINE_TRY_MLIR(timeline, timelineOf(source, cluster::slowdown(cluster)));
    Result<Instance> instance =
        poseInstance(std::move(*timeline), cluster::slowestDevice(cluster), *catalog, patterns);
    if (!instance)
      return refuse(source->getLoc()) << instance.status().message();
    OpBuilder builder(source);
    sync::ProblemOp problem = createProblem(
        builder, source->getLoc(), *instance,
        llvm::SmallVector<StringRef>(asked.begin(), asked.end()), overlap == plan::overlapStep);
    if (local)
      problem.setConsistencyAttr(local);
    return success();
  }
};
} // namespace
