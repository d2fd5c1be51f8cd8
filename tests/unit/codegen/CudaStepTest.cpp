// step.cu compiles by nvcc without warnings, links, and calls the builder as step.cpp does.
#include "codegen/cuda/CudaTarget.h"
#include "tests/unit/codegen/PlanModule.h"
#include "tests/unit/codegen/RecordingBuilder.h"
#include "tests/unit/codegen/StepText.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

using namespace syncline;
using namespace syncline::codegen;
using namespace syncline::test;

namespace {

/// A loop with every scalar operation that there is code for, in which nothing is unused, behind
/// one that broadcasts.
std::string everyOperation() {
  std::string body = "^bb0(%a: f32, %b: f32, %k: i64, %m: i8):\n"
                     "  %inf = arith.constant 0x7F800000 : f32\n"
                     "  %nan = arith.constant 0x7FC00000 : f32\n"
                     "  %one = arith.constant 1 : i64\n"
                     "  %v0 = arith.maximumf %a, %inf : f32\n"
                     "  %v1 = arith.minimumf %v0, %nan : f32\n";
  int last = 1;
  const auto add = [&](const std::string &operation) {
    std::string text = operation;
    for (std::size_t at; (at = text.find('$')) != std::string::npos;)
      text.replace(at, 1, "%v" + std::to_string(last));
    body += "  %v" + std::to_string(++last) + " = " + text + "\n";
  };
  for (const char *name : {"addf", "subf", "mulf", "divf", "maxnumf", "minnumf"})
    add("arith." + std::string(name) + " $, %b : f32");
  add("arith.negf $ : f32");
  for (const char *name :
       {"absf",      "acos",  "acosh", "asin", "asinh", "atan",  "atanh", "ceil",
        "cos",       "cosh",  "erf",   "exp",  "expm1", "floor", "log",   "log1p",
        "roundeven", "rsqrt", "sin",   "sinh", "sqrt",  "tan",   "tanh"})
    add("math." + std::string(name) + " $ : f32");
  for (const char *name : {"copysign", "powf"})
    add("math." + std::string(name) + " $, %b : f32");
  add("math.fma $, %b, %a : f32");
  for (const char *predicate : {"oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt",
                                "uge", "ult", "ule", "une", "uno"}) {
    const std::string before = "%v" + std::to_string(last);
    add("arith.cmpf " + std::string(predicate) + ", $, %b : f32");
    add("arith.select $, " + before + ", %b : f32");
  }
  const std::string real = "%v" + std::to_string(last);
  add("arith.fptosi $ : f32 to i64");
  for (const char *name : {"addi", "subi", "muli", "andi", "ori", "xori", "divsi"})
    add("arith." + std::string(name) + " $, %one : i64");
  add("arith.cmpi slt, $, %k : i64");
  const std::string bit = "%v" + std::to_string(last);
  add("arith.extui $ : i1 to i8");
  add("arith.addi $, %m : i8");
  const std::string byte = "%v" + std::to_string(last);
  add("arith.uitofp $ : i8 to f32");
  add("arith.extf $ : f32 to f64");
  add("math.exp $ : f64");
  add("arith.truncf $ : f64 to f32");
  add("arith.select " + bit + ", $, " + real + " : f32");
  body += "  plan.yield %v" + std::to_string(last) + ", " + byte + " : f32, i8\n";
  return R"(
    plan.program @p ranks 1 batch 1 spaces {input = 4096 : i64, target = 0 : i64,
        parameters = 0 : i64, gradients = 0 : i64, state = 0 : i64, arena = 4096 : i64} {
      %tx = plan.tensor "x" in input at 0 reserve 256 : memref<7x9xf32>
      %tk = plan.tensor "k" in input at 256 reserve 512 : memref<7x9xi64>
      %tm = plan.tensor "m" in input at 768 reserve 64 : memref<9xui8>
      %tb = plan.tensor "b" in input at 832 reserve 64 : memref<7x1xf32>
      %ty = plan.tensor "gamma" in arena at 0 reserve 256 live [0, 2] : memref<7x9xf32>
      %tn = plan.tensor "all" in arena at 256 reserve 64 live [0, 2] : memref<7x9xui8>
      plan.pointwise "add" ins(%tx, %tb : memref<7x9xf32>, memref<7x1xf32>) outs(%ty : memref<7x9xf32>) {
      ^bb0(%p: f32, %q: f32):
        %s = arith.addf %p, %q : f32
        plan.yield %s : f32
      }
      plan.pointwise "fill" outs(%ty : memref<7x9xf32>) attributes {flat} {
        %one = arith.constant 1.0 : f32
        plan.yield %one : f32
      }
      plan.pointwise "all" ins(%tx, %tb, %tk, %tm : memref<7x9xf32>, memref<7x1xf32>, memref<7x9xi64>, memref<9xui8>)
          outs(%ty, %tn : memref<7x9xf32>, memref<7x9xui8>) {
)" + body +
         "}\n}\n";
}

std::string read(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Compiles into FOLDER/step.so; every warning of nvcc and of the host's compiler is an error, but
/// for initialisers that nvcc itself writes without the names that the source has.
Status compile(const std::string &text, const StepTarget &target, const std::string &folder) {
  setenv("NVCC",
         SYNCLINE_NVCC
         " -Werror all-warnings -Xcompiler -Wall,-Wextra,-Wno-missing-field-initializers,-Werror",
         1);
  const Status compiled = compileStep(text, target, folder);
  unsetenv("NVCC");
  return compiled;
}

class CudaStep : public testing::Test {
protected:
  void SetUp() override {
    if (std::string(SYNCLINE_NVCC).empty())
      GTEST_SKIP() << "no nvcc that compiles was found";
  }
  TemporaryFolder folder;
};

} // namespace

TEST_F(CudaStep, CallsTheBuilderAsTheCpusDoes) {
  RecordingBuilder built[2];
  for (const StepTarget *target : {&cppTarget(), &cudaTarget()}) {
    TemporaryFolder own;
    const Status compiled = compile(stepText(smallNetwork(), *target), *target, own.path);
    ASSERT_TRUE(compiled.isOk()) << compiled.message();
    loadStep(own.file("step.so"), built[target == &cudaTarget()], target->backend.str());
  }
  EXPECT_GT(built[0].calls.size(), 10u);
  EXPECT_EQ(built[0].calls, built[1].calls);
  EXPECT_EQ(built[0].names, built[1].names);
  EXPECT_EQ(built[0].shapes, built[1].shapes);
}

TEST_F(CudaStep, EveryOperationCompilesWithoutWarningsToTheSameBytesAnywhere) {
  TemporaryFolder another;
  const std::string text = stepText(everyOperation(), cudaTarget());
  for (const std::string &place : {folder.path, another.path}) {
    const Status compiled = compile(text, cudaTarget(), place);
    ASSERT_TRUE(compiled.isOk()) << compiled.message() << "\n" << text;
  }
  EXPECT_EQ(read(folder.file("step.so")), read(another.file("step.so")));
  RecordingBuilder builder;
  loadStep(folder.file("step.so"), builder, "cuda");
  EXPECT_EQ(builder.kernels.size(), 3u);
}

TEST_F(CudaStep, TakesNeighboursByOneAccessAndRoundsByAnInstruction) {
  std::ofstream(folder.file("step.cu")) << stepText(smallNetwork(), cudaTarget());
  const std::string command = SYNCLINE_NVCC " -std=c++20 -arch=compute_80 -ptx "
                                            "-I" SYNCLINE_RUNTIME_INCLUDE " -o " +
                              folder.file("step.ptx") + " " + folder.file("step.cu");
  ASSERT_EQ(std::system(command.c_str()), 0);
  const std::string ptx = read(folder.file("step.ptx"));
  for (const char *instruction :
       {"ld.global.v4.", "st.global.v4.", "ld.global.f32", "st.global.f32", "cvt.rn.bf16.f32"})
    EXPECT_NE(ptx.find(instruction), std::string::npos) << instruction << " in\n" << ptx;
}

TEST_F(CudaStep, ReportsWhatNvccSaysAndLeavesNothing) {
  const Status compiled = compile("this is not CUDA\n", cudaTarget(), folder.path);
  ASSERT_FALSE(compiled.isOk());
  EXPECT_EQ(compiled.kind(), ErrorKind::internal);
  EXPECT_NE(compiled.message().find("step.cu(1): error"), std::string::npos) << compiled.message();
  EXPECT_EQ(read(folder.file("step.so")), "");
  EXPECT_EQ(read(folder.file("step.so.partial")), "");
}

TEST(CudaCompiler, IsNamedWhereItIsMissing) {
  TemporaryFolder folder;
  setenv("NVCC", "no-such-compiler --flag", 1);
  const Status compiled = compileStep("", cudaTarget(), folder.path);
  unsetenv("NVCC");
  ASSERT_FALSE(compiled.isOk());
  EXPECT_EQ(compiled.kind(), ErrorKind::badInput);
  EXPECT_EQ(compiled.message(), "cannot find the CUDA compiler 'no-such-compiler --flag': install "
                                "one or set NVCC");
}
