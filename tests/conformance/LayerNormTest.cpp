// Layer normalization against its definition.
#include "tests/conformance/References.h"
#include "tests/conformance/StepCase.h"
#include "tests/conformance/Suites.h"

#include <algorithm>

namespace syncline::conformance {
namespace {

constexpr double epsilon = 1e-3;

struct Case {
  const char *name;
  Shape whole, last;
};

class LayerNormTest : public testing::TestWithParam<std::tuple<Backend, Case, Form>> {
protected:
  const Backend &backend() const { return std::get<0>(GetParam()); }
  const Case &shape() const { return std::get<1>(GetParam()); }
  Form form() const { return std::get<2>(GetParam()); }

  Array x = randomArray(shape().whole, 1), dy = randomArray(shape().whole, 2);
  Array scale = randomArray(shape().last, 3), shift = randomArray(shape().last, 4);
};

TEST_P(LayerNormTest, TrainsAsDefined) {
  StepCase run(backend(), form());
  const Tensor input = run.operand(x), y = run.result(x.shape), dx = run.result(x.shape);
  const auto [s, ds] = run.parameter("scale", scale);
  const auto [b, db] = run.parameter("shift", shift);
  run.step().layerNorm("ln", input, s, b, y, epsilon);
  run.step().layerNormBackward("ln", input, s, run.operand(dy), dx, ds, db, epsilon);
  run.run();
  expectNear(run, y, referenceLayerNorm(x, scale, shift, epsilon));
  const auto gradient = [&](const auto &forward, const Array &of) {
    return numericalGradient(forward, of, dy, 1e-6);
  };
  expectNear(
      run, dx,
      gradient([&](const Array &at) { return referenceLayerNorm(at, scale, shift, epsilon); }, x),
      1e-4);
  expectNear(
      run, ds,
      gradient([&](const Array &at) { return referenceLayerNorm(x, at, shift, epsilon); }, scale),
      1e-4);
  expectNear(
      run, db,
      gradient([&](const Array &at) { return referenceLayerNorm(x, scale, at, epsilon); }, shift),
      1e-4);
}

TEST_P(LayerNormTest, OfFrozenScaleWithoutShiftGivesTheSameDataGradient) {
  StepCase run(backend(), form());
  const Tensor input = run.operand(x), y = run.result(x.shape), dx = run.result(x.shape);
  const Tensor s = run.state("scale", scale);
  run.step().layerNorm("ln", input, s, none, y, epsilon);
  run.step().layerNormBackward("ln", input, s, run.operand(dy), dx, none, none, epsilon);
  run.run();
  const Array zero(scale.shape);
  const auto forward = [&](const Array &at) {
    return referenceLayerNorm(at, scale, zero, epsilon);
  };
  expectNear(run, y, forward(x));
  expectNear(run, dx, numericalGradient(forward, x, dy, 1e-6), 1e-4);
}

// The first normalization of a model has no gradient to hand on.
TEST_P(LayerNormTest, OfTheInputGivesTheParametersGradientsAlone) {
  StepCase run(backend(), form());
  const auto [s, ds] = run.parameter("scale", scale);
  const auto [b, db] = run.parameter("shift", shift);
  run.step().layerNormBackward("ln", run.operand(x), s, run.operand(dy), none, ds, db, epsilon);
  run.run();
  const auto forward = [&](const Array &at) { return referenceLayerNorm(x, at, shift, epsilon); };
  expectNear(run, ds, numericalGradient(forward, scale, dy, 1e-6), 1e-4);
}

// Rows of a large mean: the variance is not what remains of two large numbers. Operands are plain,
// since bf16 would round the rows themselves.
TEST_P(LayerNormTest, OfLargeMeansKeepsTheVariance) {
  StepCase run(backend(), form());
  Array far = x;
  for (double &value : far.values)
    value = static_cast<float>(value + 1000);
  const Tensor y = run.result(x.shape);
  run.step().layerNorm("ln", run.plainOperand(far), run.state("scale", scale),
                       run.state("shift", shift), y, epsilon);
  run.run();
  expectNear(run, y, referenceLayerNorm(far, scale, shift, epsilon));
}

INSTANTIATE_TEST_SUITE_P(
    AllBackends, LayerNormTest,
    inBothForms(testing::Values(Case{"matrix", {9, 7}, {7}}, Case{"tokens", {3, 40, 16}, {16}},
                                Case{"two", {2, 5, 3, 4}, {3, 4}}, Case{"wide", {2, 700}, {700}},
                                Case{"all", {4, 3}, {4, 3}})),
    caseName);

} // namespace
} // namespace syncline::conformance
