// Generated loops compute what their bodies say, flat and broadcast, in C++ and in CUDA.
#include "codegen/cuda/CudaTarget.h"
#include "codegen/step/EmitStep.h"
#include "runtime/core/HalfFloat.h"
#include "tests/unit/codegen/PlanModule.h"
#include "tests/unit/codegen/RecordingBuilder.h"
#include "tests/unit/codegen/StepText.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

using namespace syncline;
using namespace syncline::codegen;
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

/// A flat loop over %a and %b that writes one value.
std::string pairLoop(const std::string &value) {
  return loopProgram({"memref<7xf32>", "memref<7xf32>"}, "memref<7xf32>", "attributes {flat}",
                     "^bb0(%a: f32, %b: f32):\n"
                     "  %s = " +
                         value +
                         " : f32\n"
                         "  plan.yield %s : f32\n");
}

/// CUDA is compiled as C++ against a stand-in for its header, and runs on the host.
Status compileOnHost(const std::string &source, const std::string &object) {
  const std::string command =
      "c++ -x c++ -std=c++20 -O2 -ffp-contract=off -shared -fPIC -I" SYNCLINE_HOST_CUDA
      " -I" SYNCLINE_RUNTIME_INCLUDE " -o " +
      object + " " + source;
  return std::system(command.c_str()) == 0 ? Status::ok() : Status::badInput(command);
}

struct Language {
  std::string name;
  const StepTarget &target;
  Status (*compile)(const std::string &source, const std::string &object);
};

void PrintTo(const Language &language, std::ostream *stream) { *stream << language.name; }

/// Floats as they are or rounded to bf16.
class Operand {
public:
  Operand(std::size_t n, bool isRounded) : isRounded(isRounded), floats(n), halves(n) {}

  void set(std::size_t i, float value) {
    floats[i] = value, halves[i] = core::bf16FromFloat(value);
  }
  float operator[](std::size_t i) const {
    return isRounded ? core::floatFromBf16(halves[i]) : floats[i];
  }
  void *at(std::size_t i) {
    return isRounded ? static_cast<void *>(halves.data() + i) : floats.data() + i;
  }

private:
  bool isRounded;
  std::vector<float> floats;
  std::vector<std::uint16_t> halves;
};

class GeneratedLoop : public testing::TestWithParam<Language> {
protected:
  void compile(const std::string &program) {
    TemporaryFolder folder;
    const auto &[name, target, compile] = GetParam();
    const std::string step = stepText(program, target);
    std::ofstream(folder.file("step")) << step;
    const Status compiled = compile(folder.file("step"), folder.file("step.so"));
    ASSERT_TRUE(compiled.isOk()) << compiled.message() << "\n" << step;
    RecordingBuilder builder;
    loadStep(folder.file("step.so"), builder, target.backend.str());
    kernel = builder.kernels["loop"];
    ASSERT_NE(kernel, nullptr);
    rounded = builder.rounded["loop"];
  }

  /// Once, and in the queue that it is given: the stand-in counts there.
  void call(const std::vector<void *> &outs, const std::vector<const void *> &ins, std::size_t n) {
    int launches = 0;
    kernel(outs.data(), ins.data(), static_cast<std::int64_t>(n), &launches);
    EXPECT_EQ(launches, GetParam().name == "cuda" ? 1 : 0);
  }

  std::vector<float> run(const std::vector<std::vector<float>> &ins, std::size_t count) {
    std::vector<float> out(count, -1);
    std::vector<const void *> pointers;
    for (const auto &in : ins)
      pointers.push_back(in.data());
    call({out.data()}, pointers, count);
    return out;
  }

  PointwiseKernel kernel = nullptr;
  RoundedKernel rounded = nullptr;
};

} // namespace

TEST_P(GeneratedLoop, FlatLoopWalksEveryElementWhateverTheCount) {
  compile(pairLoop("arith.mulf %a, %b"));
  // A layout's padding counts: more elements than the shape has; far more, over several threads.
  for (std::size_t n : {1u, 7u, 64u, 200000u}) {
    std::vector<float> a(n), b(n);
    for (std::size_t i = 0; i < n; ++i)
      a[i] = static_cast<float>(i), b[i] = 0.5f;
    const auto out = run({a, b}, n);
    for (std::size_t i = 0; i < n; ++i)
      ASSERT_EQ(out[i], 0.5f * static_cast<float>(i)) << i << " of " << n;
  }
}

TEST_P(GeneratedLoop, NestedLoopBroadcastsAsNumpy) {
  compile(loopProgram(
      {"memref<2x3x2x2xf32>", "memref<3x1x1xf32>", "memref<f32>", "memref<2x1x1x2xf32>"},
      "memref<2x3x2x2xf32>", "", R"(^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %s = arith.addf %a, %b : f32
    %t = arith.addf %s, %c : f32
    %u = arith.addf %t, %d : f32
    plan.yield %u : f32
)"));
  std::vector<float> a(24);
  for (int i = 0; i < 24; ++i)
    a[i] = static_cast<float>(i);
  const auto out = run({a, {100, 200, 300}, {1000}, {1e4, 2e4, 3e4, 4e4}}, 24);
  for (int n = 0; n < 2; ++n)
    for (int c = 0; c < 3; ++c)
      for (int h = 0; h < 2; ++h)
        for (int w = 0; w < 2; ++w) {
          const int i = ((n * 3 + c) * 2 + h) * 2 + w;
          EXPECT_EQ(out[i], static_cast<float>(i + 100 * (c + 1) + 1000 + 10000 * (n * 2 + w + 1)));
        }
}

TEST_P(GeneratedLoop, MaximumKeepsNotANumberAndSelectsAsCompared) {
  compile(loopProgram({"memref<4xf32>"}, "memref<4xf32>", "attributes {flat}", R"(^bb0(%a: f32):
    %zero = arith.constant 0.0 : f32
    %slope = arith.constant 1.0e-02 : f32
    %m = arith.maximumf %a, %zero : f32
    %n = arith.mulf %a, %slope : f32
    %p = arith.cmpf olt, %a, %zero : f32
    %s = arith.select %p, %n, %m : f32
    plan.yield %s : f32
)"));
  const auto out = run({{-1, 0, 3, std::numeric_limits<float>::quiet_NaN()}}, 4);
  EXPECT_EQ(out[0], -0.01f);
  EXPECT_EQ(out[1], 0.0f);
  EXPECT_EQ(out[2], 3.0f);
  EXPECT_TRUE(std::isnan(out[3]));
}

TEST_P(GeneratedLoop, FunctionsAreThoseOfTheStandardLibrary) {
  compile(loopProgram({"memref<3xf32>"}, "memref<3xf32>", "attributes {flat}", R"(^bb0(%a: f32):
    %e = math.exp %a : f32
    %t = math.tanh %e : f32
    %r = math.sqrt %t : f32
    plan.yield %r : f32
)"));
  const auto out = run({{-1, 0, 2}}, 3);
  for (int i = 0; i < 3; ++i) {
    const float x = i == 0 ? -1.0f : i == 1 ? 0.0f : 2.0f;
    EXPECT_FLOAT_EQ(out[i], std::sqrt(std::tanh(std::exp(x))));
  }
}

TEST_P(GeneratedLoop, ExponentialAndErrorFunctionHoldAtTheEndsOfTheirRanges) {
  const auto function = [](const std::string &name) {
    return loopProgram({"memref<9xf32>"}, "memref<9xf32>", "attributes {flat}",
                       "^bb0(%a: f32):\n  %r = math." + name +
                           " %a : f32\n  plan.yield %r : f32\n");
  };
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> at{-infinity, -100, -3.9f, -1e-30f, 0, 88.7f, 89, infinity, NAN};
  compile(function("exp"));
  const auto exponentials = run({at}, 9);
  compile(function("erf"));
  const auto errors = run({at}, 9);
  for (std::size_t i = 0; i + 1 < at.size(); ++i) {
    EXPECT_FLOAT_EQ(exponentials[i], std::exp(at[i])) << at[i];
    EXPECT_FLOAT_EQ(errors[i], std::erf(at[i])) << at[i];
  }
  EXPECT_TRUE(std::isnan(exponentials.back()) && std::isnan(errors.back()));
}

TEST_P(GeneratedLoop, ResultMayTakeItsOperandsPlace) {
  compile(pairLoop("arith.subf %b, %a"));
  std::vector<float> a(1000, 1.0f), b(1000);
  for (int i = 0; i < 1000; ++i)
    b[i] = static_cast<float>(i);
  call({b.data()}, {a.data(), b.data()}, 1000);
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(b[i], static_cast<float>(i - 1));
}

TEST_P(GeneratedLoop, OperandsMayLieAnywhere) {
  compile(pairLoop("arith.addf %a, %b"));
  constexpr std::size_t n = 1027;
  // Vectors begin at multiples of 16 bytes; what lies behind the last element stays.
  for (std::size_t offset : {0u, 1u, 2u, 3u}) {
    std::vector<float> a(n + offset), b(n), out(n + offset + 4, -1);
    for (std::size_t i = 0; i < n; ++i)
      a[i + offset] = static_cast<float>(i), b[i] = 0.25f;
    call({out.data() + offset}, {a.data() + offset, b.data()}, n);
    for (std::size_t i = 0; i < out.size(); ++i)
      ASSERT_EQ(out[i], i < offset || i >= n + offset ? -1 : static_cast<float>(i - offset) + 0.25f)
          << i << " from " << offset;
  }
}

TEST_P(GeneratedLoop, RowsBroadcastWhereThreadsTakeSeveralOfTheirElements) {
  // Innermost extents that 4 divides and those it does not; operands that repeat rows and columns.
  for (std::size_t inner : {8u, 6u, 7u}) {
    const std::string columns = std::to_string(inner);
    compile(loopProgram({"memref<3x5x" + columns + "xf32>", "memref<3x1x" + columns + "xf32>",
                         "memref<5x1xf32>", "memref<" + columns + "xf32>"},
                        "memref<3x5x" + columns + "xf32>", "",
                        R"(^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %s = arith.addf %a, %b : f32
    %t = arith.addf %s, %c : f32
    %u = arith.addf %t, %d : f32
    plan.yield %u : f32
)"));
    std::vector<float> a(15 * inner), b(3 * inner), c(5), d(inner);
    float next = 1;
    for (std::vector<float> *operand : {&a, &b, &c, &d})
      for (float &value : *operand)
        value = next++;
    const auto out = run({a, b, c, d}, a.size());
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_EQ(out[i],
                a[i] + b[i / inner / 5 * inner + i % inner] + c[i / inner % 5] + d[i % inner])
          << i << " of rows of " << inner;
  }
}

TEST_P(GeneratedLoop, ElementsMayDifferInSize) {
  compile(R"(
    plan.program @p ranks 1 batch 1 spaces {input = 4096 : i64, target = 0 : i64,
        parameters = 0 : i64, gradients = 0 : i64, state = 0 : i64, arena = 4096 : i64} {
      %x = plan.tensor "x" in input at 0 reserve 1024 : memref<9xf32>
      %k = plan.tensor "k" in input at 1024 reserve 1024 : memref<9xi64>
      %y = plan.tensor "y" in arena at 0 reserve 1024 live [0, 0] : memref<9xf64>
      %m = plan.tensor "m" in arena at 1024 reserve 1024 live [0, 0] : memref<9xui8>
      plan.pointwise "loop" ins(%x, %k : memref<9xf32>, memref<9xi64>)
          outs(%y, %m : memref<9xf64>, memref<9xui8>) attributes {flat} {
      ^bb0(%a: f32, %b: i64):
        %w = arith.extf %a : f32 to f64
        %f = arith.sitofp %b : i64 to f64
        %s = arith.addf %w, %f : f64
        %c = arith.cmpf ogt, %w, %f : f64
        %i = arith.extui %c : i1 to i8
        plan.yield %s, %i : f64, i8
      }
    })");
  constexpr std::size_t n = 301;
  std::vector<float> x(n);
  std::vector<std::int64_t> k(n);
  std::vector<double> y(n);
  std::vector<std::uint8_t> mask(n, 7);
  for (std::size_t i = 0; i < n; ++i)
    x[i] = static_cast<float>(i) + 0.5f, k[i] = i % 2 ? -1 : 1000;
  call({y.data(), mask.data()}, {x.data(), k.data()}, n);
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_EQ(y[i], x[i] + static_cast<double>(k[i]));
    EXPECT_EQ(mask[i], i % 2);
  }
}

TEST_P(GeneratedLoop, FloatsMayLieRounded) {
  compile(R"(
    plan.program @p ranks 1 batch 1 spaces {input = 4096 : i64, target = 0 : i64,
        parameters = 0 : i64, gradients = 0 : i64, state = 0 : i64, arena = 4096 : i64} {
      %x = plan.tensor "x" in input at 0 reserve 1024 : memref<9xf32>
      %k = plan.tensor "k" in input at 1024 reserve 1024 : memref<9xf32>
      %y = plan.tensor "y" in arena at 0 reserve 1024 live [0, 0] : memref<9xf32>
      %m = plan.tensor "m" in arena at 1024 reserve 1024 live [0, 0] : memref<9xui8>
      plan.pointwise "loop" ins(%x, %k : memref<9xf32>, memref<9xf32>)
          outs(%y, %m : memref<9xf32>, memref<9xui8>) attributes {flat} {
      ^bb0(%a: f32, %b: f32):
        %s = arith.addf %a, %b : f32
        %c = arith.cmpf ogt, %a, %b : f32
        %i = arith.extui %c : i1 to i8
        plan.yield %s, %i : f32, i8
      }
    })");
  if (GetParam().name == "cpp") {
    EXPECT_EQ(rounded, nullptr);
    return;
  }
  ASSERT_NE(rounded, nullptr);
  // Halfway between two of bf16, to even below and above; close to it; too large; none.
  const float halves[] = {0x1.01p0f,      0x1.03p0f,    0x1.010002p0f,
                          -0x1.00fffep0f, 0x1.ffp127f,  std::numeric_limits<float>::infinity(),
                          0x1.01p-130f,   std::nanf("")};
  constexpr std::size_t n = 1003;
  for (std::uint64_t mask = 0; mask < 8; ++mask)
    for (std::size_t offset : {0u, 1u}) {
      Operand x(n + offset, mask & 1), k(n + offset, mask & 2), y(n + offset + 8, mask & 4);
      std::vector<std::uint8_t> greater(n, 7);
      for (std::size_t i = 0; i < n; ++i)
        x.set(i + offset, i % 9 ? static_cast<float>(i) : halves[i / 9 % 8]),
            k.set(i + offset, i % 9 ? 0.25f * static_cast<float>(i) : 0);
      int launches = 0;
      void *const outs[] = {y.at(offset), greater.data()};
      const void *const ins[] = {x.at(offset), k.at(offset)};
      rounded(outs, ins, n, mask, &launches);
      EXPECT_EQ(launches, 1);
      for (std::size_t i = 0; i < n; ++i) {
        const float a = x[i + offset], b = k[i + offset], sum = a + b;
        const float expected = mask & 4 ? core::floatFromBf16(core::bf16FromFloat(sum)) : sum;
        ASSERT_EQ(std::isnan(y[i + offset]), std::isnan(sum)) << i << " of mask " << mask;
        if (!std::isnan(sum)) {
          ASSERT_EQ(y[i + offset], expected) << i << " of mask " << mask;
        }
        ASSERT_EQ(greater[i], a > b);
      }
      for (std::size_t i = n + offset; i < n + offset + 8; ++i)
        ASSERT_EQ(y[i], 0) << "behind the last element, of mask " << mask;
    }
}

INSTANTIATE_TEST_SUITE_P(
    AllTargets, GeneratedLoop,
    testing::Values(Language{"cpp", cppTarget(),
                             [](const std::string &source, const std::string &object) {
                               const std::string named = source + ".cpp";
                               std::filesystem::rename(source, named);
                               return cppTarget().compile(named, object, SYNCLINE_RUNTIME_INCLUDE);
                             }},
                    Language{"cuda", cudaTarget(), compileOnHost}),
    [](const auto &info) { return info.param.name; });

TEST(GeneratedLoopErrors, RefusesBodiesWithoutCpp) {
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
