// A generated step compiles against Step.h and calls the builder as its plan says.
#include "codegen/cpp/CompileStep.h"
#include "codegen/cpp/EmitStepCpp.h"
#include "tests/unit/codegen/PlanModule.h"
#include "tests/unit/codegen/RecordingBuilder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

using namespace syncline;
using namespace syncline::test;

namespace {

std::string emit(PlanModule &plans, const std::string &text) {
  auto module = plans.parse(text);
  auto programs = module->getOps<plan::ProgramOp>();
  auto step = emitStepCpp(*programs.begin(), {"1.2.3", "optimal"});
  EXPECT_TRUE(mlir::succeeded(step));
  return mlir::succeeded(step) ? *step : "";
}

} // namespace

TEST(StepCompiles, CallsTheBuilderInPlanOrder) {
  PlanModule plans;
  ScratchFolder folder;
  std::ofstream(folder.path + "/step.cpp") << emit(plans, smallNetwork());
  const Status compiled =
      compileStep(folder.path + "/step.cpp", folder.path + "/step.so", SYNCLINE_RUNTIME_INCLUDE);
  ASSERT_TRUE(compiled.isOk()) << compiled.message();
  RecordingBuilder builder;
  loadStep(folder.path + "/step.so", builder);
  const std::vector<std::string> expected{
      "bucket 0 at 0 extent 128",
      "bucket 1 at 128 extent 64",
      "phase forward",
      "conv s22 g1 x conv.weight none conv",
      "pointwise flat conv relu",
      "pointwise nested relu constant/0 shifted",
      "averagePool shifted pool",
      "reshape pool flat",
      "matmul nt flat fc.weight none logits",
      "crossEntropy logits label loss dy",
      "loss loss",
      "phase backward",
      "matmul tn dy flat none d:fc.weight",
      "issue 0",
      "convBackwardWeights s22 g1 x shifted d:conv.weight none",
      "issue 1",
      "phase update",
      "wait 0",
      "update 0",
      "wait 1",
      "update 1",
  };
  EXPECT_EQ(builder.calls, expected);
}

TEST(StepCompiles, GivesTheSameTextAgain) {
  PlanModule once, again;
  EXPECT_EQ(emit(once, smallNetwork()), emit(again, smallNetwork()));
}

TEST(StepCompiles, ReportsWhatTheCompilerSaysAndLeavesNothing) {
  ScratchFolder folder;
  std::ofstream(folder.path + "/step.cpp") << "this is not C++\n";
  const Status compiled =
      compileStep(folder.path + "/step.cpp", folder.path + "/step.so", SYNCLINE_RUNTIME_INCLUDE);
  ASSERT_FALSE(compiled.isOk());
  EXPECT_EQ(compiled.kind(), ErrorKind::internal);
  EXPECT_NE(compiled.message().find("error"), std::string::npos) << compiled.message();
  EXPECT_FALSE(std::filesystem::exists(folder.path + "/step.so"));
  EXPECT_FALSE(std::filesystem::exists(folder.path + "/step.so.partial"));
}

TEST(StepCompiles, SaysWhichCompilerIsMissing) {
  ScratchFolder folder;
  setenv("CXX", "no-such-compiler", 1);
  const Status compiled =
      compileStep(folder.path + "/step.cpp", folder.path + "/step.so", SYNCLINE_RUNTIME_INCLUDE);
  unsetenv("CXX");
  ASSERT_FALSE(compiled.isOk());
  EXPECT_EQ(compiled.kind(), ErrorKind::badInput);
  EXPECT_NE(compiled.message().find("no-such-compiler"), std::string::npos);
}
