#include "tests/unit/codegen/StepText.h"

#include "codegen/step/EmitStep.h"
#include "tests/unit/codegen/PlanModule.h"
#include "tests/unit/codegen/RecordingBuilder.h"

#include <gtest/gtest.h>

#include <fstream>

namespace syncline::test {

std::string stepText(const std::string &plan, const codegen::StepTarget &target) {
  PlanModule plans;
  auto module = plans.parse(plan);
  auto step =
      codegen::emitStep(*module->getOps<plan::ProgramOp>().begin(), target, {"1.2.3", "optimal"});
  EXPECT_TRUE(mlir::succeeded(step));
  return mlir::succeeded(step) ? *step : "";
}

Status compileStep(const std::string &step, const codegen::StepTarget &target,
                   const std::string &folder) {
  const std::string source = folder + "/" + target.fileName.str();
  std::ofstream(source) << step;
  return target.compile(source, folder + "/step.so", SYNCLINE_RUNTIME_INCLUDE);
}

std::vector<std::string> callsOf(const std::string &plan) {
  TemporaryFolder folder;
  const Status compiled = compileStep(stepText(plan), codegen::cppTarget(), folder.path);
  EXPECT_TRUE(compiled.isOk()) << compiled.message();
  RecordingBuilder builder;
  if (compiled.isOk())
    loadStep(folder.file("step.so"), builder);
  return builder.calls;
}

} // namespace syncline::test
