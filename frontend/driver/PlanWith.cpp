// Runs the pipeline with the options of `compile`.
#include "frontend/driver/PlanWith.h"

#include "frontend/driver/DeviceMemory.h"
#include "frontend/driver/RunPipeline.h"

using namespace mlir;

namespace syncline::driver {

Status planWith(const CompileOptions &options, const PlanWay &way, ModuleOp module,
                const EnterPhase &enter) {
  const PipelineOptions pipeline{way.planner,         options.schemes,
                                 way.overlap,         way.channels,
                                 options.consistency, options.clipNorm.value_or(0),
                                 options.recompute,   way.splitsTied};
  if (Status planned = runPipeline(module, pipeline, enter); !planned)
    return planned;
  return checkMemory(options.cluster, way.overlap, module);
}

} // namespace syncline::driver
