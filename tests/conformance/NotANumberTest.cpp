// NaN in, NaN out, where and only where PyTorch has it. Expected values are stated element by
// element: relative errors of NaN say nothing.
#include "tests/conformance/References.h"
#include "tests/conformance/StepCase.h"
#include "tests/conformance/Suites.h"

#include <cmath>

namespace syncline::conformance {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double epsilon = 1e-5;

class NotANumberTest : public testing::TestWithParam<std::tuple<Backend, Form>> {
protected:
  const Backend &backend() const { return std::get<0>(GetParam()); }
  Form form() const { return std::get<1>(GetParam()); }
};

/// NaN where `isNan(index)` says so, finite elsewhere.
template <typename IsNan> void expectNanWhere(StepCase &run, Tensor tensor, const IsNan &isNan) {
  const Array values = run.values(tensor);
  std::int64_t wrong = 0;
  forEachIndex(values.shape, [&](const Shape &at) {
    const double value = values[at];
    wrong += isNan(at) ? !std::isnan(value) : !std::isfinite(value);
  });
  EXPECT_EQ(wrong, 0) << "of " << values.size() << " elements";
}

const Window ones{{}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};

/// Position (2, 1) of sample 1 is NaN in all channels, as after a convolution.
bool isPoisoned(const Shape &at) { return at[0] == 1 && at[2] == 2 && at[3] == 1; }

Array poisoned(const Shape &shape) {
  Array x = randomArray(shape, 1);
  forEachIndex(shape, [&](const Shape &at) { x[at] = isPoisoned(at) ? nan : x[at]; });
  return x;
}

// Negative infinity becomes 0 and positive infinity stays, as in PyTorch.
TEST_P(NotANumberTest, ConvolutionWithRelu) {
  for (const std::int64_t channels : {16, 5})
    for (const bool hasBias : {false, true}) {
      const Array w = randomArray({channels, 16, 1, 1}, 2);
      StepCase run(backend(), form());
      const Tensor y = run.result({2, channels, 4, 4});
      run.step().conv("conv", run.operand(poisoned({2, 16, 4, 4})), run.state("w", w),
                      hasBias ? run.state("b", randomArray({channels}, 3)) : none, y, ones,
                      Activation::relu);
      run.run();
      expectNanWhere(run, y, isPoisoned);
      double least = 0, most = 0;
      for (double value : run.values(y).values) {
        least = std::min(least, value);
        most = std::max(most, value);
      }
      EXPECT_EQ(least, 0);
      EXPECT_GT(most, 0);
    }
}

TEST_P(NotANumberTest, ProductWithRelu) {
  Array a = randomArray({3, 8}, 1), b = randomArray({8, 6}, 2);
  a[{1, 4}] = nan;
  for (const Shape &bias : {Shape{6}, Shape{3, 6}, Shape{}}) {
    StepCase run(backend(), form());
    const Tensor y = run.result({3, 6});
    const Tensor added = bias.empty() ? none : run.operand(randomArray(bias, 3));
    run.step().matmul("fc", run.operand(a), false, run.operand(b), false, added, y,
                      Activation::relu);
    run.run();
    expectNanWhere(run, y, [](const Shape &at) { return at[0] == 1; });
    for (double value : run.values(y).values)
      EXPECT_FALSE(value < 0);
  }
}

TEST_P(NotANumberTest, ReluKeepsInfinitiesApart) {
  Array a({1, 3}, 1.0), b({3, 3});
  b[{0, 0}] = INFINITY;
  b[{1, 1}] = -INFINITY;
  b[{2, 2}] = nan;
  StepCase run(backend());
  const Tensor y = run.result({1, 3});
  run.step().matmul("fc", run.operand(a), false, run.operand(b), false, none, y, Activation::relu);
  run.run();
  const Array values = run.values(y);
  EXPECT_EQ(values.values[0], INFINITY);
  EXPECT_EQ(values.values[1], 0);
  EXPECT_TRUE(std::isnan(values.values[2]));
}

/// Windows over the poisoned position have NaN as maximum, and its place gets their gradients.
void maximum(StepCase &run, ElementType workspaceType, const Window &window, const Shape &yShape) {
  const Array x = poisoned({2, 16, 6, 6}), dy(yShape, 1);
  const Tensor y = run.result(yShape), dx = run.result(x.shape);
  const Tensor workspace = run.result(yShape, workspaceType);
  run.step().maxPool("pool", run.operand(x), y, workspace, window);
  run.step().maxPoolBackward("pool", run.operand(dy), workspace, dx, window);
  run.run();
  const auto covers = [&](std::int64_t to, std::size_t d, std::int64_t from) {
    const std::int64_t begin = to * window.strides[d] - window.padsBegin[d], tap = from - begin;
    return tap >= 0 && tap % window.dilations[d] == 0 &&
           tap / window.dilations[d] < window.kernel[d];
  };
  const auto hasNan = [&](const Shape &at) {
    return at[0] == 1 && covers(at[2], 0, 2) && covers(at[3], 1, 1);
  };
  expectNanWhere(run, y, hasNan);
  double windows = 0;
  forEachIndex({yShape[2], yShape[3]},
               [&](const Shape &at) { windows += hasNan({1, 0, at[0], at[1]}); });
  ASSERT_GT(windows, 0);
  const Array gradient = run.values(dx);
  for (std::int64_t channel = 0; channel < 16; ++channel)
    EXPECT_EQ((gradient[{1, channel, 2, 1}]), windows) << "channel " << channel;
}

TEST_P(NotANumberTest, MaxPool) {
  for (const ElementType type : {ElementType::u8, ElementType::i32}) {
    StepCase overlapping(backend(), form());
    maximum(overlapping, type, {{3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}}, {2, 16, 3, 3});
    StepCase dilated(backend(), form());
    maximum(dilated, type, {{2, 2}, {1, 1}, {2, 2}, {0, 0}, {0, 0}}, {2, 16, 4, 4});
  }
}

// The last of several, whose place gets the gradient.
TEST_P(NotANumberTest, MaxPoolOfNothingElse) {
  const Array x({1, 16, 2, 2}, nan), dy({1, 16, 1, 1}, 2);
  const Window window{{2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}};
  StepCase run(backend(), form());
  const Tensor y = run.result(dy.shape), dx = run.result(x.shape);
  const Tensor workspace = run.result(dy.shape, ElementType::u8);
  run.step().maxPool("pool", run.operand(x), y, workspace, window);
  run.step().maxPoolBackward("pool", run.operand(dy), workspace, dx, window);
  run.run();
  expectNanWhere(run, y, [](const Shape &) { return true; });
  const Array gradient = run.values(dx);
  forEachIndex(x.shape,
               [&](const Shape &at) { EXPECT_EQ(gradient[at], at[2] == 1 && at[3] == 1 ? 2 : 0); });
}

TEST_P(NotANumberTest, AveragePool) {
  const Window window{{2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}};
  StepCase run(backend(), form());
  const Tensor y = run.result({2, 16, 2, 2});
  run.step().averagePool("pool", run.operand(poisoned({2, 16, 4, 4})), y, window);
  run.run();
  expectNanWhere(run, y, [](const Shape &at) { return at[0] == 1 && at[2] == 1 && at[3] == 0; });
}

class NormalizationCase {
public:
  NormalizationCase(StepCase &run, Array x, Array scale, Array shift)
      : run(run), channels{x.shape[1]}, y(run.result(x.shape)), dx(run.result(x.shape)),
        parameters{run.parameter("scale", scale), run.parameter("shift", shift)} {
    const Tensor input = run.operand(x), dy = run.operand(Array(x.shape, 1.0));
    const Tensor mean = run.result(channels), variance = run.result(channels);
    const Tensor mask = run.result(x.shape, ElementType::u8);
    run.step().batchNorm("bn", input, parameters[0].first, parameters[1].first, none, none, y, mean,
                         variance, mask, epsilon, 0.1, Activation::relu);
    run.step().batchNormBackward("bn", input, parameters[0].first, mean, variance, mask, dy, dx,
                                 parameters[0].second, parameters[1].second, epsilon,
                                 Activation::relu);
    run.run();
  }

  StepCase &run;
  Shape channels;
  Tensor y, dx;
  std::pair<Tensor, Tensor> parameters[2];
};

// One NaN makes a channel's statistics NaN, and with them the channel.
TEST_P(NotANumberTest, BatchNormWithRelu) {
  if (form() == Form::blocked)
    return; // the convolution before it would mix the channels
  Array x = randomArray({2, 16, 4, 4}, 1);
  x[{1, 3, 2, 1}] = nan;
  StepCase run(backend(), form());
  const NormalizationCase bn(run, x, randomArray({16}, 3), randomArray({16}, 4));
  const auto ofChannel = [](const Shape &at) { return at[1] == 3; };
  expectNanWhere(run, bn.y, ofChannel);
  expectNanWhere(run, bn.dx, ofChannel);
  expectNanWhere(run, bn.parameters[0].second, [](const Shape &at) { return at[0] == 3; });
  // dy is finite, and the activation lets all of it through.
  EXPECT_EQ((run.values(bn.parameters[1].second)[{3}]), 32);
}

TEST_P(NotANumberTest, BatchNormOfNanParameters) {
  Array scale = randomArray({16}, 3), shift = randomArray({16}, 4);
  scale[{2}] = nan;
  shift[{5}] = nan;
  StepCase run(backend(), form());
  const NormalizationCase bn(run, randomArray({2, 16, 4, 4}, 1), scale, shift);
  expectNanWhere(run, bn.y, [](const Shape &at) { return at[1] == 2 || at[1] == 5; });
}

TEST_P(NotANumberTest, Lrn) {
  StepCase run(backend(), form());
  const Array x = poisoned({2, 16, 4, 4});
  const Tensor input = run.operand(x), y = run.result(x.shape), dx = run.result(x.shape);
  run.step().lrn("lrn", input, y, 5, 0.7, 0.75, 1.5);
  run.step().lrnBackward("lrn", input, run.operand(Array(x.shape, 1.0)), dx, 5, 0.7, 0.75, 1.5);
  run.run();
  expectNanWhere(run, y, isPoisoned);
  expectNanWhere(run, dx, isPoisoned);
}

// One NaN makes its row NaN, and the sums over the rows.
TEST_P(NotANumberTest, LayerNorm) {
  Array x = randomArray({4, 6}, 1);
  x[{1, 3}] = nan;
  StepCase run(backend(), form());
  const Tensor input = run.operand(x), y = run.result(x.shape), dx = run.result(x.shape);
  const auto [s, ds] = run.parameter("scale", randomArray({6}, 2));
  const auto [b, db] = run.parameter("shift", randomArray({6}, 3));
  run.step().layerNorm("ln", input, s, b, y, 1e-5);
  run.step().layerNormBackward("ln", input, s, run.operand(Array(x.shape, 1.0)), dx, ds, db, 1e-5);
  run.run();
  const auto ofRow = [](const Shape &at) { return at[0] == 1; };
  expectNanWhere(run, y, ofRow);
  expectNanWhere(run, dx, ofRow);
  expectNanWhere(run, ds, [](const Shape &) { return true; });
  EXPECT_EQ((run.values(db)[{3}]), 4);
}

TEST_P(NotANumberTest, SoftmaxAndLosses) {
  for (const std::int64_t place : {0, 2, 4}) { // first, label, last
    Array logits = randomArray({3, 5}, 1);
    logits[{1, place}] = nan;
    const auto ofSample = [](const Shape &at) { return at[0] == 1; };
    StepCase run(backend(), form());
    const Tensor x = run.operand(logits), loss = run.result({}), squares = run.result({});
    const Tensor dx = run.result({3, 5}), dy = run.result({3, 5});
    const Tensor soft = run.result({3, 5}), logarithm = run.result({3, 5});
    const Tensor labels = run.plainOperand(Array({3}, 2), ElementType::i64);
    run.step().softmax("softmax", x, soft, 1, false);
    run.step().softmax("logarithm", x, logarithm, 1, true);
    run.step().crossEntropy("ce", x, labels, Tensor(), loss, dx);
    run.step().meanSquaredError("mse", x, run.operand(randomArray({3, 5}, 2)), squares, dy);
    run.run();
    const auto always = [](const Shape &) { return true; };
    expectNanWhere(run, soft, ofSample);
    expectNanWhere(run, logarithm, ofSample);
    expectNanWhere(run, loss, always);
    expectNanWhere(run, dx, ofSample);
    expectNanWhere(run, squares, always);
    expectNanWhere(run, dy, [&](const Shape &at) { return at[0] == 1 && at[1] == place; });
  }
}

TEST_P(NotANumberTest, DropoutAndReduce) {
  const Array x({16, 16}, nan);
  StepCase run(backend(), form());
  const Tensor input = run.operand(x), y = run.result(x.shape), dx = run.result(x.shape);
  const Tensor mask = run.result(x.shape, ElementType::u8), sum = run.result({16});
  run.step().dropout("drop", input, y, mask, 0.5);
  run.step().dropoutBackward("drop", input, mask, dx, 0.5);
  run.step().reduce("sum", Reduction::sum, input, sum, {1});
  run.run();
  const auto always = [](const Shape &) { return true; };
  expectNanWhere(run, y, always); // dropped elements are NaN too, since NaN · 0 is NaN
  expectNanWhere(run, dx, always);
  expectNanWhere(run, sum, always);
}

// One NaN among equal elements, or beside a larger one, wherever it stands.
TEST_P(NotANumberTest, MaximumOfAnElement) {
  for (const std::int64_t place : {0, 40, 699}) {
    Array x({3, 700}, 1.0);
    x[{0, place}] = x[{1, place}] = nan;
    x[{1, (place + 7) % 700}] = 9.0;
    StepCase run(backend(), form());
    const Tensor maximum = run.result({3}), column = run.result({700}), input = run.operand(x);
    run.step().reduce("rows", Reduction::maximum, input, maximum, {1});
    run.step().reduce("columns", Reduction::maximum, input, column, {0});
    run.run();
    expectNanWhere(run, maximum, [](const Shape &at) { return at[0] < 2; });
    expectNanWhere(run, column, [&](const Shape &at) { return at[0] == place; });
  }
}

INSTANTIATE_TEST_SUITE_P(AllBackends, NotANumberTest, inBothForms(), caseName);

} // namespace
} // namespace syncline::conformance
