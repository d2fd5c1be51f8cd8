// Batch normalization and LRN against their definitions.
#include "tests/conformance/References.h"
#include "tests/conformance/StepCase.h"

#include <algorithm>
#include <cmath>

namespace syncline::conformance {
namespace {

constexpr double epsilon = 1e-5;

class NormalizationTest : public testing::TestWithParam<std::tuple<Backend, Shape, Form>> {
protected:
  const Backend &backend() const { return std::get<0>(GetParam()); }
  Form form() const { return std::get<2>(GetParam()); }

  void batchNorm(Activation activation);
  void evaluation(Activation activation);

  Array x = randomArray(std::get<1>(GetParam()), 1);
  Array dy = randomArray(x.shape, 2);
  Array scale = randomArray({x.shape[1]}, 3), shift = randomArray({x.shape[1]}, 4);
};

void NormalizationTest::batchNorm(Activation activation) {
  StepCase run(backend(), form());
  const Shape channels{x.shape[1]};
  const Tensor input = run.operand(x), gradient = run.operand(dy);
  const auto [s, ds] = run.parameter("scale", scale);
  const auto [b, db] = run.parameter("shift", shift);
  const Array oldMean = randomArray(channels, 5), oldVariance = randomArray(channels, 6);
  const Tensor runningMean = run.state("mean", oldMean);
  const Tensor runningVariance = run.state("variance", oldVariance);
  const Tensor y = run.result(x.shape), dx = run.result(x.shape);
  const Tensor mean = run.result(channels), variance = run.result(channels);
  const Tensor workspace = run.result(x.shape, ElementType::u8);
  run.step().batchNorm("bn", input, s, b, runningMean, runningVariance, y, mean, variance,
                       workspace, epsilon, 0.1, activation);
  run.step().batchNormBackward("bn", input, s, mean, variance, workspace, gradient, dx, ds, db,
                               epsilon, activation);
  run.run();

  auto apply = [&](const Array &input, const Array &scale, const Array &shift) {
    const Array y = referenceBatchNorm(input, scale, shift, epsilon);
    return activation == Activation::relu ? referenceRelu(y) : y;
  };
  expectNear(run, y, apply(x, scale, shift));
  const double n = static_cast<double>(x.size() / x.shape[1]);
  Array newMean = oldMean, newVariance = oldVariance;
  for (std::size_t c = 0; c < newMean.values.size(); ++c) {
    newMean.values[c] = 0.9 * oldMean.values[c] + 0.1 * channelMean(x).values[c];
    newVariance.values[c] =
        0.9 * oldVariance.values[c] + 0.1 * channelVariance(x).values[c] * n / (n - 1);
  }
  expectNear(run, runningMean, newMean);
  expectNear(run, runningVariance, newVariance);
  expectNear(
      run, dx,
      numericalGradient([&](const Array &at) { return apply(at, scale, shift); }, x, dy, 1e-6),
      1e-4);
  expectNear(
      run, ds,
      numericalGradient([&](const Array &at) { return apply(x, at, shift); }, scale, dy, 1e-6),
      1e-4);
  expectNear(
      run, db,
      numericalGradient([&](const Array &at) { return apply(x, scale, at); }, shift, dy, 1e-6),
      1e-4);
}

/// In evaluation y is that of the running statistics, which stay; then training goes on as before.
void NormalizationTest::evaluation(Activation activation) {
  StepCase run(backend(), form());
  const Shape channels{x.shape[1]};
  const Tensor input = run.operand(x);
  const auto [s, ds] = run.parameter("scale", scale);
  const auto [b, db] = run.parameter("shift", shift);
  const Array oldMean = randomArray(channels, 5);
  Array oldVariance = randomArray(channels, 6);
  for (double &each : oldVariance.values)
    each = each * each + 0.1;
  const Tensor runningMean = run.state("mean", oldMean);
  const Tensor runningVariance = run.state("variance", oldVariance);
  const Tensor y = run.result(x.shape);
  const Tensor mean = run.result(channels), variance = run.result(channels);
  const Tensor workspace = run.result(x.shape, ElementType::u8);
  run.step().batchNorm("bn", input, s, b, runningMean, runningVariance, y, mean, variance,
                       workspace, epsilon, 0.1, activation);
  (*run).setEvaluation(true);
  run.run();
  const std::int64_t inner = x.size() / (x.shape[0] * x.shape[1]);
  Array wanted = x;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const auto c = static_cast<std::size_t>(i / inner % x.shape[1]);
    double &value = wanted.values[static_cast<std::size_t>(i)];
    value =
        (value - oldMean.values[c]) / std::sqrt(oldVariance.values[c] + epsilon) * scale.values[c] +
        shift.values[c];
    if (activation == Activation::relu)
      value = std::max(value, 0.0);
  }
  expectNear(run, y, wanted);
  const auto unchanged = [&](Tensor state, const Array &before) {
    const Array now = run.values(state);
    for (std::size_t c = 0; c < now.values.size(); ++c)
      EXPECT_EQ(static_cast<float>(now.values[c]), static_cast<float>(before.values[c])) << c;
  };
  unchanged(runningMean, oldMean);
  unchanged(runningVariance, oldVariance);

  (*run).setEvaluation(false);
  run.runOperations(0, static_cast<int>((*run).operations().size()));
  const Array trained = referenceBatchNorm(x, scale, shift, epsilon);
  expectNear(run, y, activation == Activation::relu ? referenceRelu(trained) : trained);
  Array newMean = oldMean;
  for (std::size_t c = 0; c < newMean.values.size(); ++c)
    newMean.values[c] = 0.9 * oldMean.values[c] + 0.1 * channelMean(x).values[c];
  expectNear(run, runningMean, newMean);
}

TEST_P(NormalizationTest, EvaluatesByRunningStatistics) { evaluation(Activation::none); }
TEST_P(NormalizationTest, EvaluatesWithFusedRelu) { evaluation(Activation::relu); }

TEST_P(NormalizationTest, BatchNormTrainsAsDefined) { batchNorm(Activation::none); }
TEST_P(NormalizationTest, BatchNormWithFusedRelu) { batchNorm(Activation::relu); }

TEST_P(NormalizationTest, BatchNormOfFrozenScaleGivesTheSameDataGradient) {
  StepCase run(backend(), form());
  const Shape channels{x.shape[1]};
  const Tensor input = run.operand(x), gradient = run.operand(dy);
  const Tensor s = run.state("scale", scale), b = run.state("shift", shift);
  const Tensor y = run.result(x.shape), dx = run.result(x.shape);
  const Tensor mean = run.result(channels), variance = run.result(channels);
  run.step().batchNorm("bn", input, s, b, none, none, y, mean, variance, none, epsilon, 0.1);
  run.step().batchNormBackward("bn", input, s, mean, variance, none, gradient, dx, none, none,
                               epsilon);
  run.run();
  auto forward = [&](const Array &at) { return referenceBatchNorm(at, scale, shift, epsilon); };
  expectNear(run, dx, numericalGradient(forward, x, dy, 1e-6), 1e-4);
}

TEST_P(NormalizationTest, LrnAndItsBackward) {
  StepCase run(backend(), form());
  for (const std::int64_t size : {1, 4, 5}) {
    StepCase run(backend(), form());
    const Tensor input = run.operand(x), y = run.result(x.shape), dx = run.result(x.shape);
    run.step().lrn("lrn", input, y, size, 0.7, 0.75, 1.5);
    run.step().lrnBackward("lrn", input, run.operand(dy), dx, size, 0.7, 0.75, 1.5);
    run.run();
    auto forward = [&](const Array &at) { return referenceLrn(at, size, 0.7, 0.75, 1.5); };
    expectNear(run, y, forward(x));
    expectNear(run, dx, numericalGradient(forward, x, dy));
  }
}

INSTANTIATE_TEST_SUITE_P(AllBackends, NormalizationTest,
                         testing::Combine(testing::ValuesIn(backends()),
                                          testing::Values(Shape{2, 16, 3, 3}, Shape{2, 5, 3, 4},
                                                          Shape{3, 24, 2, 2}, Shape{4, 16, 3},
                                                          Shape{2, 5, 2, 2, 2}, Shape{8, 6}),
                                          testing::Values(Form::plain, Form::blocked)));

} // namespace
} // namespace syncline::conformance
