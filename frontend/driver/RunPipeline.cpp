// Runs the pipeline and turns diagnostics of its passes into a Status.
#include "frontend/driver/RunPipeline.h"

#include "frontend/driver/Diagnostics.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace syncline::driver {

Status runPipeline(ModuleOp module, const PipelineOptions &options) {
  DiagnosticCollector diagnostics(module.getContext());
  PassManager passes(module.getContext());
  buildPipeline(passes, options);
  if (failed(passes.run(module)))
    return diagnostics.passStatus("planning failed without a reason");
  return Status::ok();
}

} // namespace syncline::driver
