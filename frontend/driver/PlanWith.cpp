// Runs the pipeline with the options of `compile`.
#include "frontend/driver/PlanWith.h"

#include "frontend/driver/DeviceMemory.h"
#include "frontend/driver/RunPipeline.h"

using namespace mlir;

namespace syncline::driver {

Status planWith(const CompileOptions &options, std::shared_ptr<const solver::Planner> planner,
                const std::string &overlap, int channels, ModuleOp module,
                const std::function<void(const std::string &phase)> &enter) {
  const PipelineOptions pipeline{
      std::move(planner),           options.schemes,  overlap, channels, options.consistency,
      options.clipNorm.value_or(0), options.recompute};
  if (Status planned = runPipeline(module, pipeline, enter); !planned)
    return planned;
  return checkMemory(options.cluster, overlap, module);
}

} // namespace syncline::driver
