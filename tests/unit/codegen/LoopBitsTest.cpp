// Vectorised functions of generated loops have the bits of syncline/VectorMath.h as this file's
// compiler makes them, whatever the instruction set, the threads and an element's place are.
#include "codegen/cpp/CppTarget.h"
#include "syncline/CpuIsa.h"
#include "syncline/VectorMath.h"
#include "tests/unit/codegen/PlanModule.h"
#include "tests/unit/codegen/RecordingBuilder.h"
#include "tests/unit/codegen/StepText.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <optional>

using namespace syncline;
using namespace syncline::codegen;
using namespace syncline::test;

namespace {

constexpr const char *functions = R"(
  plan.program @p ranks 1 batch 1 spaces {input = 4096 : i64, target = 0 : i64,
      parameters = 0 : i64, gradients = 0 : i64, state = 0 : i64, arena = 4096 : i64} {
    %x = plan.tensor "x" in input at 0 reserve 1024 : memref<9xf32>
    %u = plan.tensor "u" in arena at 0 reserve 1024 live [0, 0] : memref<9xf32>
    %v = plan.tensor "v" in arena at 1024 reserve 1024 live [0, 0] : memref<9xf32>
    %w = plan.tensor "w" in arena at 2048 reserve 1024 live [0, 0] : memref<9xf32>
    plan.pointwise "loop" ins(%x : memref<9xf32>)
        outs(%u, %v, %w : memref<9xf32>, memref<9xf32>, memref<9xf32>) attributes {flat} {
    ^bb0(%a: f32):
      %e = math.exp %a : f32
      %f = math.erf %a : f32
      %t = math.tanh %a : f32
      plan.yield %e, %f, %t : f32, f32, f32
    }
  })";

/// Sets the cap of instruction sets, and puts back what was there.
class Cap {
public:
  explicit Cap(const char *name) {
    if (const char *value = std::getenv(cpuIsaVariable))
      was = value;
    setenv(cpuIsaVariable, name, /*overwrite=*/1);
  }
  ~Cap() {
    if (was)
      setenv(cpuIsaVariable, was->c_str(), 1);
    else
      unsetenv(cpuIsaVariable);
  }

private:
  std::optional<std::string> was;
};

/// Sets the threads of loops, where their compiler has GCC's library for them.
void setThreads(int threads) {
  if (void *library = dlopen("libgomp.so.1", RTLD_NOW))
    if (void *set = dlsym(library, "omp_set_num_threads"))
      reinterpret_cast<void (*)(int)>(set)(threads);
}

/// Floats of every exponent and both signs.
float element(std::size_t i) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(i * 2654435761u));
}

void expectBits(PointwiseKernel kernel, std::size_t n, std::size_t offset) {
  std::vector<float> x(n + offset), u(x), v(x), w(x);
  for (std::size_t i = 0; i < n; ++i)
    x[i + offset] = element(i);
  void *const outs[] = {u.data() + offset, v.data() + offset, w.data() + offset};
  const void *const ins[] = {x.data() + offset};
  kernel(outs, ins, static_cast<std::int64_t>(n), nullptr);
  const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  for (std::size_t i = offset; i < x.size(); ++i) {
    if (x[i] != x[i]) { // the payload of NaN is no promise
      ASSERT_TRUE(u[i] != u[i] && v[i] != v[i] && w[i] != w[i]) << i;
      continue;
    }
    ASSERT_EQ(bits(u[i]), bits(exponential(x[i]))) << "exp " << x[i];
    ASSERT_EQ(bits(v[i]), bits(errorFunction(x[i]))) << "erf " << x[i];
    ASSERT_EQ(bits(w[i]), bits(hyperbolicTangent(x[i]))) << "tanh " << x[i];
  }
}

TEST(LoopBits, AreThoseOfOneElementAlone) {
  TemporaryFolder folder;
  std::ofstream(folder.file("step.cpp")) << stepText(functions, cppTarget());
  const Status compiled =
      cppTarget().compile(folder.file("step.cpp"), folder.file("step"), SYNCLINE_RUNTIME_INCLUDE);
  ASSERT_TRUE(compiled.isOk()) << compiled.message();
  for (const char *name : {"avx2", "avx512", "amx"}) {
    const Cap cap(name);
    SCOPED_TRACE(name);
    const std::string own = folder.file(name); // one more copy of the cap that it read
    std::filesystem::copy_file(folder.file("step"), own);
    RecordingBuilder builder;
    loadStep(own, builder, "cpu");
    const PointwiseKernel kernel = builder.kernels["loop"];
    ASSERT_NE(kernel, nullptr);
    for (const int threads : {1, 2}) {
      setThreads(threads);
      for (const std::size_t offset : {0u, 1u, 5u, 15u})
        for (const std::size_t n : {1u, 7u, 17u, 67u, 100003u})
          expectBits(kernel, n, offset);
    }
    setThreads(1);
  }
}

} // namespace
