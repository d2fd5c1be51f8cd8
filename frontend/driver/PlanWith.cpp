// Runs the pipeline with the options of `compile`.
#include "frontend/driver/PlanWith.h"

#include "frontend/driver/DeviceMemory.h"
#include "frontend/driver/RunPipeline.h"
#include "ir/FirstOf.h"
#include "ir/cluster/Cluster.h"
#include "ir/nn/RecomputedAttr.h"
#include "ir/plan/Plan.h"

using namespace mlir;

namespace syncline::driver {

namespace {

/// Plans the module with so many bytes freed by recomputation where the options want `auto`.
Status runWith(const CompileOptions &options, const PlanWay &way, std::int64_t freed,
               ModuleOp module, const EnterPhase &enter) {
  PipelineOptions pipeline;
  pipeline.planner = way.planner;
  pipeline.requested = options.schemes;
  pipeline.overlap = way.overlap;
  pipeline.channels = way.channels;
  pipeline.consistency = options.consistency;
  pipeline.clipNorm = options.clipNorm.value_or(0);
  pipeline.accumulate = options.accumulate;
  pipeline.splitTied = way.splitsTied;
  if (!options.recomputesToFit())
    pipeline.recompute = options.recompute;
  pipeline.freeArena = freed;
  return runPipeline(module, pipeline, enter);
}

/// The bytes that recomputation frees in the program.
std::int64_t freedIn(ModuleOp module) {
  auto program = firstOf<plan::ProgramOp>(module);
  auto stated =
      program ? program->getAttrOfType<DictionaryAttr>(nn::recomputationAttr) : DictionaryAttr();
  return stated ? nn::freedOf(stated).getInt() : 0;
}

} // namespace

Status planWith(const CompileOptions &options, const PlanWay &way, OwningOpRef<ModuleOp> &module,
                const EnterPhase &enter) {
  constexpr int mostPlans = 5;
  if (!options.recomputesToFit()) {
    if (Status planned = runWith(options, way, 0, *module, enter); !planned)
      return planned;
    return checkMemory(options.cluster, way.overlap, *module);
  }
  auto spec = (*module)->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  if (!spec.getDevice().getMemorySize())
    return Status::badInput("'" + options.cluster +
                            "' does not state its devices' 'memory-size', " +
                            "into which '--recompute auto' fits the step");
  // Messages by factors live in the arena, too, and other ready times make other messages: what
  // the plan lacks in the end is added to what recomputation shall free.
  std::int64_t wanted = 0;
  for (int plan = 0;; ++plan) {
    OwningOpRef<ModuleOp> tried = module->clone();
    if (Status planned = runWith(options, way, wanted, *tried, enter); !planned)
      return planned;
    const std::int64_t missing = missingBytes(*tried);
    if (missing > 0 && plan < mostPlans && freedIn(*tried) >= wanted) {
      wanted += missing;
      continue;
    }
    module = std::move(tried);
    return checkMemory(options.cluster, way.overlap, *module);
  }
}

} // namespace syncline::driver
