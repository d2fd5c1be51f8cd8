// Convolutions by the engines of cuDNN's graph interface: which of them are taken, what happens
// where they are refused, and that numbers are those of the older interface.
#include "tests/conformance/Backends.h"
#include "tests/conformance/StepCase.h"
#include "tests/host-cuda/HostDnn.h"

#include "runtime/cuda/CudaExecutable.h"

#include <cuda_runtime_api.h>

namespace syncline::conformance {
namespace {

using namespace core;

/// A convolution of the tests, with what the graph interface answers for it.
struct GraphCase {
  const char *what;
  Shape x, w, y;
  Window window;
  std::string fp32, other; ///< the engines that run, by precision
};

const std::string knobs = "eng7_k2=3_k13=1";
const GraphCase cases[] = {
    {"plain",
     {2, 4, 5, 5},
     {6, 4, 3, 3},
     {2, 6, 5, 5},
     {{}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
     "eng11",
     knobs},
    {"one by one",
     {2, 4, 5, 5},
     {6, 4, 1, 1},
     {2, 6, 3, 3},
     {{}, {2, 2}, {1, 1}, {0, 0}, {0, 0}},
     "eng11",
     knobs},
    {"uneven",
     {2, 4, 5, 5},
     {6, 4, 2, 2},
     {2, 6, 5, 5},
     {{}, {1, 1}, {1, 1}, {0, 0}, {1, 1}},
     "eng11",
     knobs},
    {"line", {2, 4, 9}, {6, 4, 3}, {2, 6, 5}, {{}, {2}, {1}, {1}, {1}}, "eng11", knobs},
    {"volume",
     {1, 2, 3, 4, 5},
     {4, 2, 3, 3, 3},
     {1, 4, 3, 4, 5},
     {{}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
     "eng11",
     knobs},
    // These heuristics know no groups but in the fallback's list.
    {"groups",
     {2, 4, 5, 5},
     {6, 2, 3, 3},
     {2, 6, 5, 5},
     {{}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 2},
     "eng13",
     knobs},
    {"channels",
     {2, 4, 5, 5},
     {4, 1, 3, 3},
     {2, 4, 5, 5},
     {{}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 4},
     "eng13",
     knobs},
    // These graphs know no dilation.
    {"dilated",
     {1, 4, 7, 7},
     {4, 4, 3, 3},
     {1, 4, 7, 7},
     {{}, {1, 1}, {2, 2}, {2, 2}, {2, 2}},
     "1",
     "1"},
};

/// A step of a convolution and its gradients.
struct ConvolutionStep {
  ConvolutionStep(const Backend &backend, const GraphCase &c) : run(backend) {
    const Tensor x = run.state("x", randomArray(c.x, 1)), w = run.state("w", randomArray(c.w, 2));
    const Tensor dy = run.state("dy", randomArray(c.y, 3));
    y = run.result(c.y), dx = run.result(c.x), dw = run.result(c.w);
    run.step().conv("l", x, w, none, y, c.window);
    run.step().convBackwardData("l", dy, w, dx, c.window);
    run.step().convBackwardWeights("l", x, dy, dw, none, c.window);
  }
  std::vector<std::vector<double>> results() {
    return {run.values(y).values, run.values(dx).values, run.values(dw).values};
  }
  /// The operation's engine, after "cudnn:".
  std::string engine(std::size_t operation) {
    const std::string text = (*run).operations()[operation].implementation.substr(6);
    return text.substr(0, text.find(' '));
  }

  StepCase run;
  Tensor y, dx, dw;
};

// Both interfaces of the stand-in sum in double, in one order.
TEST(GraphTest, NumbersEqualTheOlderInterfaces) {
  for (const Backend &backend : backends())
    for (const GraphCase &c : cases) {
      SCOPED_TRACE(backend.name + std::string(" ") + c.what);
      ConvolutionStep graph(backend, c);
      graph.run.run();
      const hostcuda::WithoutGraphs none;
      ConvolutionStep older(backend, c);
      older.run.run();
      EXPECT_EQ(graph.results(), older.results());
      EXPECT_EQ(older.engine(0), "1");
    }
}

// The lists begin with engines that round too much, change their bits, want too much workspace, are
// refused as plans, or refuse to run. With all bits of f32 tensor units are none to take.
TEST(GraphTest, TheFirstEngineThatMayAndCanRunIsTaken) {
  for (const Backend &backend : backends())
    for (const GraphCase &c : cases) {
      ConvolutionStep step(backend, c);
      step.run.run();
      const bool isPlain = backend.name == backends()[0].name;
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(step.engine(i), isPlain ? c.fp32 : c.other)
            << backend.name << " " << c.what << " " << i;
    }
}

// Engines that the library compiles do not hold up the first step; they are timed like others.
TEST(GraphTest, CompiledEnginesStandBehindTheOthersOfTheirList) {
  ConvolutionStep step(backends()[1], cases[0]);
  step.run.begin();
  auto &executable = static_cast<cuda::CudaExecutable &>(*step.run);
  const Result<KernelChoice> timed = executable.chooseEngines("", true);
  ASSERT_TRUE(timed);
  ASSERT_EQ(timed->timed, 3);
  std::string compiled = timed->table;
  const std::string before = "f32 channels-last\t";
  for (std::size_t at = 0; (at = compiled.find(before, at)) != std::string::npos;) {
    at += before.size();
    compiled.replace(at, compiled.find('\t', at) - at, "eng8");
  }
  ConvolutionStep other(backends()[1], cases[0]);
  other.run.begin();
  ASSERT_TRUE(static_cast<cuda::CudaExecutable &>(*other.run).chooseEngines(compiled, false));
  other.run.runOperations(0, 3);
  step.run.runOperations(0, 3);
  EXPECT_EQ(other.engine(0) + other.engine(1) + other.engine(2), "eng8eng8eng8");
  EXPECT_EQ(other.results(), step.results());
}

/// The plans that are built, or refused, for so many equal convolutions until they have run.
int plansOf(int convolutions) {
  StepCase run(backends()[1]);
  const Tensor x = run.state("x", randomArray({2, 4, 5, 5}, 1));
  const Tensor w = run.state("w", randomArray({6, 4, 3, 3}, 2));
  for (int i = 0; i < convolutions; ++i)
    run.step().conv("l", x, w, none, run.result({2, 6, 5, 5}), cases[0].window);
  const int before = hostcuda::triedPlans;
  run.run();
  return hostcuda::triedPlans - before;
}

// Listing takes milliseconds for each convolution, and compiling a kernel can take seconds.
TEST(GraphTest, EqualConvolutionsShareTheirPlans) { EXPECT_EQ(plansOf(3), plansOf(1)); }

// A replay runs the plans again, with their workspace.
TEST(GraphTest, StepsAreCaptured) {
  for (const Backend &backend : backends()) {
    ConvolutionStep step(backend, cases[0]);
    step.run.begin();
    step.run.runOperations(0, 3);
    const auto expected = step.results();
    ASSERT_TRUE((*step.run).beginCapture().isOk());
    for (int i = 0; i < 3; ++i)
      ASSERT_TRUE((*step.run).run(i).isOk());
    ASSERT_TRUE((*step.run).endCapture().isOk());
    for (const Tensor tensor : {step.y, step.dx, step.dw}) {
      const Array values = step.run.values(tensor);
      std::vector<std::byte> none(values.values.size() * 4);
      ASSERT_TRUE((*step.run).write(tensor.id, none).isOk());
    }
    (*step.run).beginStep(1);
    ASSERT_TRUE((*step.run).replay().isOk());
    ASSERT_TRUE((*step.run).synchronize().isOk());
    EXPECT_EQ(step.results(), expected) << backend.name;
  }
}

} // namespace
} // namespace syncline::conformance
