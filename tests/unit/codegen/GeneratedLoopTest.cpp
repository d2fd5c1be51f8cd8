// Generated loops compute what their bodies say, flat and broadcast.
#include "codegen/cpp/CppTarget.h"
#include "codegen/step/EmitStep.h"
#include "tests/unit/codegen/PlanModule.h"
#include "tests/unit/codegen/RecordingBuilder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

using namespace syncline;
using namespace syncline::test;

namespace {

/// A program of one loop over inputs and outputs of the given types.
std::string loopProgram(const std::vector<std::string> &ins, const std::string &out,
                        const std::string &attributes, const std::string &body) {
  std::string text =
      "plan.program @p ranks 1 batch 1 spaces {input = 4096 : i64, target = 0 : i64, "
      "parameters = 0 : i64, gradients = 0 : i64, state = 0 : i64, arena = 4096 : i64} {\n";
  std::string names, types;
  for (std::size_t i = 0; i < ins.size(); ++i) {
    const std::string name = "%i" + std::to_string(i);
    text += name + " = plan.tensor \"i" + std::to_string(i) + "\" in input at " +
            std::to_string(1024 * i) + " reserve 1024 : " + ins[i] + "\n";
    names += (i ? ", " : "") + name;
    types += (i ? ", " : "") + ins[i];
  }
  text += "%o = plan.tensor \"o\" in arena at 0 reserve 4096 live [0, 0] : " + out + "\n";
  return text + "plan.pointwise \"loop\" ins(" + names + " : " + types + ") outs(%o : " + out +
         ") " + attributes + " {\n" + body + "}\n}\n";
}

PointwiseKernel compile(const std::string &program) {
  PlanModule plans;
  ScratchFolder folder;
  auto module = plans.parse(program);
  auto step = emitStep(*module->getOps<plan::ProgramOp>().begin(), cppTarget(), {"", ""});
  if (mlir::failed(step))
    return nullptr;
  std::ofstream(folder.path + "/step.cpp") << *step;
  const Status compiled = cppTarget().compile(folder.path + "/step.cpp", folder.path + "/step.so",
                                              SYNCLINE_RUNTIME_INCLUDE);
  EXPECT_TRUE(compiled.isOk()) << (compiled.isOk() ? "" : compiled.message()) << "\n" << *step;
  RecordingBuilder builder;
  loadStep(folder.path + "/step.so", builder);
  return builder.kernels["loop"];
}

std::vector<float> run(PointwiseKernel kernel, const std::vector<std::vector<float>> &ins,
                       std::size_t count) {
  std::vector<float> out(count, -1);
  std::vector<const void *> pointers;
  for (const auto &in : ins)
    pointers.push_back(in.data());
  void *outs[] = {out.data()};
  kernel(outs, pointers.data(), static_cast<std::int64_t>(count), nullptr);
  return out;
}

} // namespace

TEST(GeneratedLoop, FlatLoopWalksEveryElementWhateverTheCount) {
  const auto kernel = compile(loopProgram({"memref<7xf32>", "memref<7xf32>"}, "memref<7xf32>",
                                          "attributes {flat}", R"(^bb0(%a: f32, %b: f32):
    %s = arith.mulf %a, %b : f32
    plan.yield %s : f32
)"));
  ASSERT_NE(kernel, nullptr);
  // A layout's padding counts: more elements than the shape has; far more, over several threads.
  for (std::size_t n : {1u, 7u, 64u, 200000u}) {
    std::vector<float> a(n), b(n);
    for (std::size_t i = 0; i < n; ++i)
      a[i] = static_cast<float>(i), b[i] = 0.5f;
    const auto out = run(kernel, {a, b}, n);
    for (std::size_t i = 0; i < n; ++i)
      ASSERT_EQ(out[i], 0.5f * static_cast<float>(i)) << i << " of " << n;
  }
}

TEST(GeneratedLoop, NestedLoopBroadcastsAsNumpy) {
  const auto kernel = compile(loopProgram(
      {"memref<2x3x2x2xf32>", "memref<3x1x1xf32>", "memref<f32>", "memref<2x1x1x2xf32>"},
      "memref<2x3x2x2xf32>", "", R"(^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %s = arith.addf %a, %b : f32
    %t = arith.addf %s, %c : f32
    %u = arith.addf %t, %d : f32
    plan.yield %u : f32
)"));
  ASSERT_NE(kernel, nullptr);
  std::vector<float> a(24);
  for (int i = 0; i < 24; ++i)
    a[i] = static_cast<float>(i);
  const auto out = run(kernel, {a, {100, 200, 300}, {1000}, {1e4, 2e4, 3e4, 4e4}}, 24);
  for (int n = 0; n < 2; ++n)
    for (int c = 0; c < 3; ++c)
      for (int h = 0; h < 2; ++h)
        for (int w = 0; w < 2; ++w) {
          const int i = ((n * 3 + c) * 2 + h) * 2 + w;
          EXPECT_EQ(out[i], static_cast<float>(i + 100 * (c + 1) + 1000 + 10000 * (n * 2 + w + 1)));
        }
}

TEST(GeneratedLoop, MaximumKeepsNotANumberAndSelectsAsCompared) {
  const auto kernel =
      compile(loopProgram({"memref<4xf32>"}, "memref<4xf32>", "attributes {flat}", R"(^bb0(%a: f32):
    %zero = arith.constant 0.0 : f32
    %slope = arith.constant 1.0e-02 : f32
    %m = arith.maximumf %a, %zero : f32
    %n = arith.mulf %a, %slope : f32
    %p = arith.cmpf olt, %a, %zero : f32
    %s = arith.select %p, %n, %m : f32
    plan.yield %s : f32
)"));
  ASSERT_NE(kernel, nullptr);
  const auto out = run(kernel, {{-1, 0, 3, std::numeric_limits<float>::quiet_NaN()}}, 4);
  EXPECT_EQ(out[0], -0.01f);
  EXPECT_EQ(out[1], 0.0f);
  EXPECT_EQ(out[2], 3.0f);
  EXPECT_TRUE(std::isnan(out[3]));
}

TEST(GeneratedLoop, FunctionsAreThoseOfTheStandardLibrary) {
  const auto kernel =
      compile(loopProgram({"memref<3xf32>"}, "memref<3xf32>", "attributes {flat}", R"(^bb0(%a: f32):
    %e = math.exp %a : f32
    %t = math.tanh %e : f32
    %r = math.sqrt %t : f32
    plan.yield %r : f32
)"));
  ASSERT_NE(kernel, nullptr);
  const auto out = run(kernel, {{-1, 0, 2}}, 3);
  for (int i = 0; i < 3; ++i) {
    const float x = i == 0 ? -1.0f : i == 1 ? 0.0f : 2.0f;
    EXPECT_FLOAT_EQ(out[i], std::sqrt(std::tanh(std::exp(x))));
  }
}

TEST(GeneratedLoop, ResultMayTakeItsOperandsPlace) {
  const auto kernel = compile(loopProgram({"memref<9xf32>", "memref<9xf32>"}, "memref<9xf32>",
                                          "attributes {flat}", R"(^bb0(%a: f32, %b: f32):
    %s = arith.subf %b, %a : f32
    plan.yield %s : f32
)"));
  ASSERT_NE(kernel, nullptr);
  std::vector<float> a(1000, 1.0f), b(1000);
  for (int i = 0; i < 1000; ++i)
    b[i] = static_cast<float>(i);
  const void *ins[] = {a.data(), b.data()};
  void *outs[] = {b.data()};
  kernel(outs, ins, 1000, nullptr);
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(b[i], static_cast<float>(i - 1));
}

TEST(GeneratedLoop, RefusesBodiesWithoutCpp) {
  PlanModule plans;
  auto module = plans.parse(loopProgram({"memref<2xf16>"}, "memref<2xf16>", "attributes {flat}",
                                        "^bb0(%a: f16):\n  plan.yield %a : f16\n"));
  std::string message;
  mlir::ScopedDiagnosticHandler handler(
      &plans.context, [&](mlir::Diagnostic &diagnostic) { message = diagnostic.str(); });
  EXPECT_TRUE(
      mlir::failed(emitStep(*module->getOps<plan::ProgramOp>().begin(), cppTarget(), {"", ""})));
  EXPECT_NE(message.find("16-bit floats"), std::string::npos) << message;
}
