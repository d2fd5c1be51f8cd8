// A generated step compiles against Step.h and calls the builder as its plan says.
#include "tests/unit/codegen/PlanModule.h"
#include "tests/unit/codegen/StepText.h"

#include <gtest/gtest.h>

#include <filesystem>

using namespace syncline;
using namespace syncline::codegen;
using namespace syncline::test;

TEST(StepCompiles, CallsTheBuilderInPlanOrder) {
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
      "crossEntropy 0.2500 logits label none loss dy",
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
  EXPECT_EQ(callsOf(smallNetwork()), expected);
}

TEST(StepCompiles, HandsFactorsToTheirChannel) {
  const std::vector<std::string> calls = callsOf(R"(
    plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 0 : i64, parameters = 64 : i64,
        gradients = 64 : i64, state = 0 : i64, arena = 192 : i64} {
      %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
      %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
      %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
      %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 2] : memref<4x4xf32>
      %hs = plan.tensor "h.gathered" in arena at 64 reserve 128 live [1, 3] : memref<8x4xf32>
      plan.bucket 0 members ["w"] by factors channel 0 at 0 extent 64 bytes 64
      plan.call matmul "h" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>)
        outs(%h : memref<4x4xf32>)
      plan.gather 0 ins(%h : memref<4x4xf32>) outs(%hs : memref<8x4xf32>)
      plan.wait 0
      plan.call matmul "dw" ["a", "b", "y"] ins(%hs, %hs : memref<8x4xf32>, memref<8x4xf32>)
        outs(%dw : memref<4x4xf32>) {transpose_a}
      plan.update 0
    })");
  const std::vector<std::string> expected{
      "bucket 0 at 0 extent 64",
      "matmul nn x w none h",
      "gather 0 h h.gathered",
      "wait 0",
      "matmul tn h.gathered h.gathered none d:w",
      "update 0",
  };
  EXPECT_EQ(calls, expected);
}

TEST(StepCompiles, GivesTheSameTextAgain) {
  EXPECT_EQ(stepText(smallNetwork()), stepText(smallNetwork()));
}

TEST(StepCompiles, ReportsWhatTheCompilerSaysAndLeavesNothing) {
  TemporaryFolder folder;
  const Status compiled = compileStep("this is not C++\n", cppTarget(), folder.path);
  ASSERT_FALSE(compiled.isOk());
  EXPECT_EQ(compiled.kind(), ErrorKind::internal);
  EXPECT_NE(compiled.message().find("error"), std::string::npos) << compiled.message();
  EXPECT_FALSE(std::filesystem::exists(folder.file("step.so")));
  EXPECT_FALSE(std::filesystem::exists(folder.file("step.so.partial")));
}

TEST(StepCompiles, SaysWhichCompilerIsMissing) {
  TemporaryFolder folder;
  setenv("CXX", "no-such-compiler", 1);
  const Status compiled = compileStep("", cppTarget(), folder.path);
  unsetenv("CXX");
  ASSERT_FALSE(compiled.isOk());
  EXPECT_EQ(compiled.kind(), ErrorKind::badInput);
  EXPECT_NE(compiled.message().find("no-such-compiler"), std::string::npos);
}
