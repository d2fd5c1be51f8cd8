// Sums that convolutions make for the norms behind them: when they are taken, what norms compute by
// them, and what happens where cuDNN refuses.
#include "tests/conformance/StepCase.h"
#include "tests/host-cuda/HostDnn.h"

#include "runtime/cuda/CudaExecutable.h"

#include <cmath>

namespace syncline::conformance {
namespace {

using namespace core;

constexpr std::int64_t channels = 16;
const Shape image{4, channels, 9, 7};
const Window same1{{}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};
const std::string quick = "sums_eng5", unrunnable = "sums_eng3";

/// What varies in a step.
struct Kind {
  bool hasBias = false;
  bool hasRelu = false; ///< the convolution's
  int norms = 1;
};

/// A convolution that changes nothing, and the norm of its result.
struct NormStep {
  explicit NormStep(const Array &values, const Backend &backend = backends()[2],
                    const Kind &kind = {})
      : run(backend) {
    Array identity({channels, channels, 1, 1});
    for (std::int64_t c = 0; c < channels; ++c)
      identity[{c, c, 0, 0}] = 1;
    StepBuilder &s = run.step();
    const Tensor x = run.state("x", values), w = run.parameter("w", identity).first;
    const Tensor bias = kind.hasBias ? run.parameter("b", Array({channels})).first : none;
    const Tensor made = run.result(values.shape);
    s.conv("l", x, w, bias, made, same1, kind.hasRelu ? Activation::relu : Activation::none);
    for (int i = 0; i < kind.norms; ++i) {
      const std::string name = "norm" + std::to_string(i);
      const Tensor scale = run.parameter(name + "scale", randomArray({channels}, 3)).first;
      const Tensor shift = run.parameter(name + "shift", randomArray({channels}, 4)).first;
      runningMean = run.state(name + "mean", randomArray({channels}, 5));
      runningVariance = run.state(name + "variance", Array({channels}, 2.0));
      mean = run.result({channels}), variance = run.result({channels}),
      y = run.result(values.shape);
      s.batchNorm(name, made, scale, shift, runningMean, runningVariance, y, mean, variance, none,
                  1e-5, 0.1);
    }
    run.begin();
  }

  cuda::CudaExecutable &executable() { return static_cast<cuda::CudaExecutable &>(*run); }
  /// The table that timing makes.
  std::string timed() {
    const Result<KernelChoice> choice = executable().chooseEngines("", true);
    return choice ? choice->table : choice.status().message();
  }
  /// Has the convolution computed by this engine in place of that in the table, which is another
  /// step's: timing removes engines that are refused.
  void take(const std::string &engine, std::string table) {
    const std::size_t name = table.rfind("channels-last\t") + 14;
    table.replace(name, table.find('\t', name) - name, engine);
    ASSERT_TRUE(executable().chooseEngines(table, false));
    ASSERT_EQ(engineName(), engine);
  }
  std::string engineName() {
    const std::string named = (*run).operations()[0].implementation.substr(6);
    return named.substr(0, named.find(' '));
  }
  void compute() { run.runOperations(0, static_cast<int>((*run).operations().size())); }
  std::vector<std::vector<double>> results() {
    std::vector<std::vector<double>> all;
    for (const Tensor each : {y, mean, variance, runningMean, runningVariance})
      all.push_back(run.values(each).values);
    return all;
  }

  StepCase run;
  Tensor runningMean, runningVariance, mean, variance, y;
};

std::string timedTable(const Array &x) { return NormStep(x).timed(); }

/// Expects the results of a step to be those of another, whose norm has added up itself.
void expectLike(NormStep &step, NormStep &other) {
  for (const Tensor each : {step.mean, step.variance, step.runningMean, step.runningVariance})
    EXPECT_LT(relativeError(step.run.values(each), other.run.values(each)), 1e-6);
  EXPECT_LT(relativeError(step.run.values(step.y), other.run.values(other.y)), 1e-3);
}

TEST(ConvolutionSumsTest, NormsComputeByThem) {
  const Array x = randomArray(image, 1);
  NormStep plain(x), step(x);
  plain.compute();
  step.take(quick, timedTable(x));
  step.compute();
  EXPECT_EQ(step.engineName(), quick);
  expectLike(step, plain);
  EXPECT_NE(step.results(), plain.results()); // the stand-in adds up in f32
}

// With many rows the stand-in's kernels take much longer to add up than its convolutions do.
TEST(ConvolutionSumsTest, TheyAreTakenWhereTheNormWouldTakeLonger) {
  NormStep step(randomArray({16, channels, 32, 32}, 1));
  EXPECT_EQ(step.engineName().rfind("sums_", 0), std::string::npos);
  const std::string table = step.timed();
  EXPECT_EQ(step.engineName().rfind("sums_", 0), 0u) << table;
  EXPECT_NE(table.find("groups 1 with sums\tbf16 channels-last\tsums_eng"), std::string::npos)
      << table;
}

TEST(ConvolutionSumsTest, TimingLeavesRunningStatisticsAlone) {
  NormStep step(randomArray(image, 1));
  const auto mean = step.run.values(step.runningMean),
             variance = step.run.values(step.runningVariance);
  step.timed();
  EXPECT_EQ(step.run.values(step.runningMean).values, mean.values);
  EXPECT_EQ(step.run.values(step.runningVariance).values, variance.values);
}

// Where the engine is refused when it runs, the norm adds up: the bits are those without sums.
TEST(ConvolutionSumsTest, RefusedEnginesLeaveTheSumsToTheNorm) {
  const Array x = randomArray(image, 1);
  NormStep plain(x), step(x);
  plain.compute();
  step.take(unrunnable, timedTable(x));
  step.compute();
  EXPECT_EQ(step.engineName().find("sums_"), std::string::npos);
  EXPECT_EQ(step.results(), plain.results());
}

// In f32 the difference of a large mean's square and a mean of squares has few digits left. The
// first half of the channels has such means.
TEST(ConvolutionSumsTest, LargeMeansAreAddedUpAgain) {
  Array x = randomArray({16, channels, 32, 32}, 1);
  forEachIndex(x.shape, [&](const Shape &at) {
    if (at[1] < channels / 2)
      x[at] = 1000 + 4 * std::round(2 * x[at]); // bf16 has these numbers
  });
  NormStep plain(x), step(x);
  plain.compute();
  step.take(quick, timedTable(x));
  step.compute();
  expectLike(step, plain);
  const Array variance = step.run.values(step.variance), of = plain.run.values(plain.variance);
  for (std::size_t c = 0; c < channels; ++c)
    EXPECT_NEAR(variance.values[c] / of.values[c], 1, 1e-5) << c;
  EXPECT_EQ(variance.values[0], of.values[0]);
}

// A channel of one number has no variance.
TEST(ConvolutionSumsTest, ConstantChannelsHaveNoVariance) {
  const Array x(image, 3.0);
  NormStep step(x);
  step.take(quick, timedTable(x));
  step.compute();
  EXPECT_EQ(step.run.values(step.variance).values, std::vector<double>(channels, 0.0));
  EXPECT_EQ(step.run.values(step.mean).values, std::vector<double>(channels, 3.0));
}

TEST(ConvolutionSumsTest, TwoNormsMayReadThem) {
  const Array x = randomArray(image, 1);
  NormStep plain(x, backends()[2], {.norms = 2}), step(x, backends()[2], {.norms = 2});
  plain.compute();
  step.take(quick, timedTable(x));
  step.compute();
  expectLike(step, plain);
}

// A bias or an activation changes what the norm reads, and sums in f32 are for elements in bf16.
TEST(ConvolutionSumsTest, OtherConvolutionsHaveNone) {
  const Array x = randomArray(image, 1);
  const auto table = [&](const Backend &backend, const Kind &kind) {
    return NormStep(x, backend, kind).timed();
  };
  for (const std::string &timed :
       {table(backends()[1], {}), table(backends()[2], {.hasBias = true}),
        table(backends()[2], {.hasRelu = true}), table(backends()[2], {.norms = 0})}) {
    EXPECT_NE(timed.find("groups 1\t"), std::string::npos) << timed;
    EXPECT_EQ(timed.find("sums"), std::string::npos) << timed;
  }
}

TEST(ConvolutionSumsTest, EvaluationNormalizesByRunningStatistics) {
  const Array x = randomArray(image, 1);
  NormStep plain(x), step(x);
  step.take(quick, timedTable(x));
  for (NormStep *each : {&plain, &step}) {
    (*each->run).setEvaluation(true);
    each->compute();
  }
  for (const Tensor each : {step.y, step.runningMean, step.runningVariance})
    EXPECT_EQ(step.run.values(each).values, plain.run.values(each).values);
}

TEST(ConvolutionSumsTest, StepsAreCaptured) {
  const Array x = randomArray(image, 1);
  NormStep step(x);
  step.take(quick, timedTable(x));
  step.compute();
  const auto expected = step.results();
  core::Executable &executable = *step.run;
  ASSERT_TRUE(executable.beginCapture().isOk());
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(executable.run(i).isOk());
  ASSERT_TRUE(executable.endCapture().isOk());
  executable.beginStep(1);
  ASSERT_TRUE(executable.replay().isOk());
  ASSERT_TRUE(executable.synchronize().isOk());
  for (std::size_t i = 0; i < 3; ++i) // the running statistics have moved on
    EXPECT_EQ(step.results()[i], expected[i]);
}

} // namespace
} // namespace syncline::conformance
