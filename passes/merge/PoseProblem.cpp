// The pass `pose-problem`: states the sync problem of a cluster and a timed step or a trace.
#include "ir/Refusal.h"
#include "ir/cluster/Cluster.h"
#include "ir/sync/Sync.h"
#include "passes/Passes.h"
#include "passes/merge/Instance.h"
#include "passes/merge/MergeOps.h"

#include "mlir/IR/Builders.h"

namespace syncline {
#define GEN_PASS_DEF_POSEPROBLEM
#include "passes/Passes.h.inc"
} // namespace syncline

using namespace mlir;
using namespace syncline;

namespace {

/// The timeline of a step or a trace. A step's times are already those of the slowest node.
FailureOr<cost::Timeline> timelineOf(Operation *source, double slowdown) {
  if (auto step = dyn_cast<nn::StepOp>(source))
    return cost::timelineOf(step);
  return cost::timelineOf(cast<sync::TraceOp>(source), slowdown);
}

template <typename Attr> ArrayAttr arrayAttr(OpBuilder &builder, llvm::ArrayRef<Attr> list) {
  return builder.getArrayAttr(llvm::SmallVector<Attribute>(list.begin(), list.end()));
}

/// Writes the instance; `requested` are the schemes requested by name, as the user wrote them.
void createProblem(OpBuilder &builder, Location place, const Instance &instance,
                   llvm::ArrayRef<StringRef> requested) {
  llvm::SmallVector<StringRef> names;
  llvm::SmallVector<std::int64_t> bytes;
  llvm::SmallVector<double> ready;
  for (const cost::ReadyGradient &gradient : instance.timeline.gradients) {
    names.push_back(gradient.name);
    bytes.push_back(gradient.bytes);
    ready.push_back(gradient.ready);
  }
  const std::int64_t every = (std::int64_t{1} << instance.mergeClasses.size()) - 1;
  const bool isRestricted =
      llvm::any_of(instance.only, [&](std::int64_t mergeClasses) { return mergeClasses != every; });
  builder.create<sync::ProblemOp>(
      place, builder.getStringAttr("merge"), builder.getStrArrayAttr(names),
      builder.getDenseI64ArrayAttr(bytes), timesAttr(builder, ready),
      arrayAttr<sync::MergeClassAttr>(builder, instance.mergeClasses),
      instance.factorOptions.empty()
          ? ArrayAttr()
          : arrayAttr<sync::FactorOptionAttr>(builder, instance.factorOptions),
      instance.piggybacks.empty() ? DenseI64ArrayAttr()
                                  : builder.getDenseI64ArrayAttr(instance.piggybacks),
      isRestricted ? builder.getDenseI64ArrayAttr(instance.only) : DenseI64ArrayAttr(),
      requested.empty() ? ArrayAttr() : builder.getStrArrayAttr(requested),
      builder.getF64FloatAttr(instance.timeline.forward),
      builder.getF64FloatAttr(instance.timeline.backwardEnd),
      builder.getF64FloatAttr(instance.timeline.updates));
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
    llvm::SmallVector<RequestedScheme> patterns;
    for (const std::string &text : requested) {
      Result<RequestedScheme> pattern = parseRequestedScheme(text);
      if (!pattern)
        return refuse(source->getLoc()) << pattern.status().message();
      patterns.push_back(*pattern);
    }
    Result<cost::SchemeCatalog> catalog = cost::catalogOf(cluster);
    if (!catalog)
      return refuse(source->getLoc()) << catalog.status().message();
    FailureOr<cost::Timeline> timeline = timelineOf(source, cluster::slowdown(cluster));
    if (failed(timeline))
      return failure();
    Result<Instance> instance = poseInstance(source->getContext(), std::move(*timeline),
                                             cluster::slowestDevice(cluster), *catalog, patterns);
    if (!instance)
      return refuse(source->getLoc()) << instance.status().message();
    OpBuilder builder(source);
    createProblem(builder, source->getLoc(), *instance,
                  llvm::SmallVector<StringRef>(requested.begin(), requested.end()));
    return success();
  }
};
} // namespace
