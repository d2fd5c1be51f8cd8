// Generated loops, reductions and dropout.
#include "runtime/core/Noise.h"
#include "tests/conformance/StepCase.h"
#include "tests/conformance/Suites.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace syncline::conformance {
namespace {

class ElementwiseTest : public testing::TestWithParam<std::tuple<Backend, Form>> {
protected:
  const Backend &backend() const { return std::get<0>(GetParam()); }
  Form form() const { return std::get<1>(GetParam()); }
};

TEST_P(ElementwiseTest, FlatLoopOverOperandsInDifferentLayouts) {
  const Array a = randomArray({2, 19, 3, 3}, 1), b = randomArray(a.shape, 2);
  StepCase run(backend(), form());
  const Tensor y = run.result(a.shape), mask = run.result(a.shape, ElementType::u8);
  const std::array ins{run.operand(a), run.plainOperand(b)}, outs{y, mask};
  backend().kernels.addRelu.append(run.step(), "add", ins, outs, true);
  run.run();
  Array expected(a.shape), kept(a.shape);
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    kept.values[i] = a.values[i] + b.values[i] > 0;
    expected.values[i] = std::max(a.values[i] + b.values[i], 0.0);
  }
  expectNear(run, y, expected);
  expectNear(run, mask, kept, 0);
}

TEST_P(ElementwiseTest, LoopThatDoesNotKeepZeroLeavesNoTraceInPadding) {
  // Ones in the padding of a blocked layout would be seen in the sum over channels.
  const Array x = randomArray({2, 5, 3, 3}, 1);
  StepCase run(backend(), form());
  const Tensor moved = run.result(x.shape), y = run.result({2, 1, 3, 3});
  const std::array ins{run.operand(x)}, outs{moved};
  backend().kernels.addOne.append(run.step(), "add", ins, outs, false);
  Array ones({1, 5, 1, 1}, 1);
  run.step().conv("sum", moved, run.state("w", ones), none, y,
                  {{}, {1, 1}, {1, 1}, {0, 0}, {0, 0}});
  run.run();
  Array expected({2, 1, 3, 3}, 5);
  forEachIndex(x.shape, [&](const Shape &at) { expected[{at[0], 0, at[2], at[3]}] += x[at]; });
  expectNear(run, y, expected);
}

TEST_P(ElementwiseTest, LoopThatWalksItselfSeesDenseOperands) {
  const Array x = randomArray({2, 5, 3, 3}, 1), scale = randomArray({5}, 2);
  StepCase run(backend(), form());
  const Tensor y = run.result(x.shape);
  const std::array ins{run.operand(x), run.operand(scale)};
  const std::array outs{y};
  run.step().pointwise("scale", backend().kernels.scaleChannels, ins, outs, {false, false});
  run.run();
  Array expected(x.shape);
  forEachIndex(x.shape, [&](const Shape &at) { expected[at] = x[at] * scale[{at[1]}]; });
  expectNear(run, y, expected);
}

TEST_P(ElementwiseTest, ReduceOverAnyAxes) {
  const Array x = randomArray({2, 5, 3, 4}, 1);
  for (const Shape &axes :
       {Shape{0}, Shape{1}, Shape{3}, Shape{2, 3}, Shape{0, 2, 3}, Shape{-1, 0}, Shape{0, 1, 2, 3}})
    for (const Reduction kind : {Reduction::sum, Reduction::mean, Reduction::maximum}) {
      Shape kept = x.shape;
      double count = 1;
      for (std::int64_t axis : axes) {
        auto &extent = kept[axis < 0 ? axis + 4 : axis];
        count *= static_cast<double>(extent);
        extent = 1;
      }
      StepCase run(backend(), form());
      const Tensor y = run.result(kept);
      run.step().reduce("reduce", kind, run.operand(x), y, axes);
      run.run();
      const bool isMaximum = kind == Reduction::maximum;
      Array expected(kept, isMaximum ? -10.0 : 0.0);
      forEachIndex(x.shape, [&](const Shape &at) {
        Shape to = at;
        for (std::size_t i = 0; i < to.size(); ++i)
          to[i] = kept[i] == 1 ? 0 : to[i];
        if (isMaximum)
          expected[to] = std::max(expected[to], x[at]);
        else
          expected[to] += x[at] / (kind == Reduction::mean ? count : 1);
      });
      expectNear(run, y, expected);
    }
}

// So many terms that backends combine them in parts. All maxima are negative.
TEST_P(ElementwiseTest, ReduceOfManyTerms) {
  for (const auto &[shape, axis] : {std::pair(Shape{3, 5000}, 1), {Shape{5000, 3}, 0}}) {
    Array x = randomArray(shape, 1);
    for (double &value : x.values)
      value -= 100;
    StepCase run(backend(), form());
    const Tensor sum = run.result({3}), maximum = run.result({3});
    const Tensor operand = run.operand(x);
    run.step().reduce("sum", Reduction::sum, operand, sum, {axis});
    run.step().reduce("maximum", Reduction::maximum, operand, maximum, {axis});
    run.run();
    Array sums({3}), maxima({3}, -1000.0);
    forEachIndex(shape, [&](const Shape &at) {
      const Shape to{at[1 - axis]};
      sums[to] += x[at];
      maxima[to] = std::max(maxima[to], x[at]);
    });
    expectNear(run, sum, sums);
    expectNear(run, maximum, maxima);
  }
}

TEST_P(ElementwiseTest, DropoutKeepsTheRightShareAndScalesIt) {
  const Array x(Shape{4, 16, 16, 16}, 1.0);
  StepCase run(backend(), form());
  const Tensor input = run.operand(x), y = run.result(x.shape), dx = run.result(x.shape);
  const Tensor mask = run.result(x.shape, ElementType::u8);
  run.step().dropout("drop", input, y, mask, 0.25);
  run.step().dropoutBackward("drop", input, mask, dx, 0.25);
  run.run();
  const Array kept = run.values(y);
  double share = 0;
  for (double value : kept.values) {
    EXPECT_TRUE(value == 0 || std::abs(value - 4.0 / 3) < 1e-6);
    share += (value != 0) / static_cast<double>(kept.values.size());
  }
  EXPECT_NEAR(share, 0.75, 0.02);
  expectNear(run, dx, kept, 0);
}

TEST_P(ElementwiseTest, DropoutDependsOnTheStepAndNothingElse) {
  const Array x(Shape{64}, 1.0);
  StepCase run(backend(), form());
  const Tensor y = run.result(x.shape), mask = run.result(x.shape, ElementType::u8);
  run.step().dropout("drop", run.operand(x), y, mask, 0.5);
  run.run();
  const Array first = run.values(y);
  (*run).beginStep(1);
  ASSERT_TRUE((*run).run(0).isOk());
  EXPECT_GT(relativeError(run.values(y), first), 0.1);
  (*run).beginStep(0);
  ASSERT_TRUE((*run).run(0).isOk());
  expectNear(run, y, first, 0);
}

// All backends draw the same numbers, which the stream gives.
TEST_P(ElementwiseTest, NoiseIsThatOfTheStream) {
  const Shape shape{3, 5, 7};
  const std::array<std::array<double, 3>, 3> distributions{{{0, -1, 3}, {1, 0.5, 2}, {2, 0.75, 0}}};
  for (const auto &[kind, first, second] : distributions) {
    StepCase run(backend(), form());
    const Tensor y = run.result(shape);
    run.step().noise("noise", y, static_cast<std::int64_t>(kind), first, second, 0.25);
    run.run();
    Array expected(shape);
    core::ExecutableOptions options;
    options.seed = 7; // as StepCase has
    const core::NoiseStream stream =
        core::noiseStream(options, "noise", static_cast<std::int64_t>(kind), first, second);
    for (std::size_t i = 0; i < expected.values.size(); ++i)
      expected.values[i] = core::noiseBlock(stream, 0, i / 4)[i % 4];
    expectNear(run, y, expected, 1e-7);
  }
}

TEST_P(ElementwiseTest, NoiseHasItsMeanAndDeviation) {
  const Shape shape{64, 32, 16};
  const std::array<std::array<double, 5>, 3> distributions{
      {{0, -1, 3, 1, 4 / std::sqrt(12)}, {1, 0.5, 2, 0.5, 2}, {2, 0.75, 0, 0.75, 0.4330127}}};
  for (const auto &[kind, first, second, mean, deviation] : distributions) {
    StepCase run(backend(), form());
    const Tensor y = run.result(shape);
    run.step().noise("noise", y, static_cast<std::int64_t>(kind), first, second, 0);
    run.run();
    const Array drawn = run.values(y);
    double sum = 0, squares = 0;
    for (double value : drawn.values) {
      sum += value - mean;
      squares += (value - mean) * (value - mean);
    }
    const auto count = static_cast<double>(drawn.values.size());
    EXPECT_NEAR(sum / count, 0, 5 * deviation / std::sqrt(count)) << kind;
    EXPECT_NEAR(std::sqrt(squares / count), deviation, 0.02 * deviation) << kind;
  }
}

TEST_P(ElementwiseTest, NoiseDependsOnStepAndLayerAndIsConstantInEvaluation) {
  const Shape shape{64};
  StepCase run(backend(), form());
  const Tensor y = run.result(shape), other = run.result(shape);
  run.step().noise("a", y, 1, 0, 1, 0.25);
  run.step().noise("b", other, 1, 0, 1, 0.25);
  run.run();
  const Array first = run.values(y);
  EXPECT_GT(relativeError(run.values(other), first), 0.1);
  (*run).beginStep(1);
  ASSERT_TRUE((*run).run(0).isOk());
  EXPECT_GT(relativeError(run.values(y), first), 0.1);
  (*run).beginStep(0);
  ASSERT_TRUE((*run).run(0).isOk());
  expectNear(run, y, first, 0);
  (*run).setEvaluation(true);
  ASSERT_TRUE((*run).run(0).isOk());
  expectNear(run, y, Array(shape, 0.25), 0);
}

INSTANTIATE_TEST_SUITE_P(AllBackends, ElementwiseTest, inBothForms(), caseName);

} // namespace
} // namespace syncline::conformance
