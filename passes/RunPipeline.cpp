// Runs the pipeline and turns diagnostics of its passes into a Status.
#include "passes/RunPipeline.h"

#include "passes/Diagnostics.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace syncline {
namespace {

/// Tells a phase when its first pass begins.
class PhaseInstrumentation : public PassInstrumentation {
public:
  explicit PhaseInstrumentation(EnterPhase enter) : enter(std::move(enter)) {}

  void runBeforePass(Pass *pass, Operation *) override {
    const llvm::StringRef phase = llvm::StringSwitch<llvm::StringRef>(pass->getArgument())
                                      .Case("differentiate", "differentiating")
                                      .Cases("cost", "pose-problem", "planning")
                                      .Case("lower-to-plan", "lowering")
                                      .Default("");
    if (phase.empty() || phase == current)
      return;
    current = phase;
    enter(current);
  }

private:
  const EnterPhase enter;
  std::string current;
};

} // namespace

Status runPasses(ModuleOp module, BuildPasses build, const PipelineOptions &options,
                 const EnterPhase &enter) {
  DiagnosticCollector diagnostics(module.getContext());
  PassManager passes(module.getContext());
  if (enter)
    passes.addInstrumentation(std::make_unique<PhaseInstrumentation>(enter));
  build(passes, options);
  if (failed(passes.run(module)))
    return diagnostics.passStatus("planning failed without a reason");
  return Status::ok();
}

} // namespace syncline
