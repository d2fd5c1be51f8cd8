// Convolution forward and backward against the definition, over shapes that pick other kernels.
#include "tests/conformance/References.h"
#include "tests/conformance/StepCase.h"
#include "tests/conformance/Suites.h"

namespace syncline::conformance {
namespace {

struct ConvShape {
  const char *name;
  Shape x, w;
  Window window;
  bool hasBias = true;
  Activation activation = Activation::none;
};

void PrintTo(const ConvShape &shape, std::ostream *stream) { *stream << shape.name; }

Window window(Shape strides, Shape dilations, Shape begins, Shape ends, std::int64_t groups = 1) {
  return {{}, std::move(strides), std::move(dilations), std::move(begins), std::move(ends), groups};
}

Shape outputShape(const ConvShape &c) {
  Shape y{c.x[0], c.w[0]};
  for (std::size_t i = 0; i + 2 < c.x.size(); ++i)
    y.push_back((c.x[i + 2] + c.window.padsBegin[i] + c.window.padsEnd[i] -
                 (c.w[i + 2] - 1) * c.window.dilations[i] - 1) /
                    c.window.strides[i] +
                1);
  return y;
}

std::vector<ConvShape> convShapes() {
  const Window same3 = window({1, 1}, {1, 1}, {1, 1}, {1, 1});
  const Window one = window({1, 1}, {1, 1}, {0, 0}, {0, 0});
  return {
      {"threeByThree", {2, 16, 5, 5}, {16, 16, 3, 3}, same3},
      {"oneByOne", {2, 32, 4, 4}, {16, 32, 1, 1}, one, false},
      {"oneByOneStrided", {2, 16, 6, 6}, {32, 16, 1, 1}, window({2, 2}, {1, 1}, {0, 0}, {0, 0})},
      {"oneByOneStridesApart",
       {3, 32, 7, 6},
       {64, 32, 1, 1},
       window({3, 2}, {1, 1}, {0, 0}, {0, 0})},
      {"strideLeavesRemainder",
       {1, 16, 6, 7},
       {16, 16, 3, 3},
       window({2, 2}, {1, 1}, {0, 0}, {0, 0})},
      {"firstLayer", {2, 3, 9, 9}, {16, 3, 7, 7}, window({2, 2}, {1, 1}, {3, 3}, {3, 3}), false},
      {"oddChannels", {2, 5, 5, 5}, {7, 5, 3, 3}, same3},
      {"channelsOf24", {1, 24, 4, 4}, {24, 24, 3, 3}, same3, false},
      {"unevenPads", {1, 16, 5, 6}, {16, 16, 3, 2}, window({1, 2}, {1, 1}, {2, 0}, {1, 1})},
      {"dilated", {1, 16, 7, 7}, {16, 16, 3, 3}, window({1, 1}, {2, 2}, {2, 2}, {2, 2})},
      {"grouped", {2, 32, 4, 4}, {32, 16, 3, 3}, window({1, 1}, {1, 1}, {1, 1}, {1, 1}, 2)},
      {"groupedOdd", {1, 6, 4, 4}, {9, 2, 3, 3}, window({1, 1}, {1, 1}, {1, 1}, {1, 1}, 3)},
      {"depthwise", {2, 16, 5, 5}, {16, 1, 3, 3}, window({1, 1}, {1, 1}, {1, 1}, {1, 1}, 16)},
      {"depthwiseOdd", {1, 19, 5, 5}, {19, 1, 3, 3}, window({2, 2}, {1, 1}, {1, 1}, {1, 1}, 19)},
      {"oneDimension", {2, 16, 9}, {16, 16, 3}, window({2}, {1}, {1}, {1})},
      {"threeDimensions",
       {1, 4, 3, 4, 4},
       {16, 4, 2, 3, 3},
       window({1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1})},
      {"fusedRelu", {2, 16, 5, 5}, {16, 16, 3, 3}, same3, true, Activation::relu},
      {"fusedReluOdd", {1, 5, 5, 5}, {7, 5, 3, 3}, same3, true, Activation::relu},
  };
}

/// Transposed convolutions: x is what they make, and dy what they are given.
std::vector<ConvShape> transposedShapes() {
  return {
      {"doubled", {2, 16, 8, 8}, {32, 16, 2, 2}, window({2, 2}, {1, 1}, {0, 0}, {0, 0})},
      {"doubledOdd", {2, 5, 6, 10}, {7, 5, 2, 2}, window({2, 2}, {1, 1}, {0, 0}, {0, 0})},
      {"outputPadded", {2, 16, 8, 7}, {16, 16, 3, 3}, window({2, 2}, {1, 1}, {1, 1}, {1, 1})},
      {"strideBeyondKernel", {1, 6, 9, 8}, {4, 6, 2, 1}, window({3, 3}, {1, 1}, {0, 0}, {0, 0})},
      {"dilatedStrided", {1, 16, 9, 9}, {16, 16, 3, 3}, window({2, 2}, {2, 2}, {1, 1}, {1, 1})},
      {"padsBeyondKernel", {1, 3, 4, 3}, {5, 3, 2, 2}, window({1, 1}, {1, 1}, {3, 2}, {2, 4})},
      {"groupedUp", {2, 6, 8, 8}, {8, 3, 4, 4}, window({2, 2}, {1, 1}, {1, 1}, {1, 1}, 2)},
      {"depthwiseUp", {2, 16, 8, 8}, {16, 1, 2, 2}, window({2, 2}, {1, 1}, {0, 0}, {0, 0}, 16)},
      {"lineUp", {2, 6, 16}, {4, 6, 4}, window({2}, {1}, {1}, {1})},
      {"volumeUp",
       {1, 4, 4, 6, 4},
       {8, 4, 2, 2, 2},
       window({2, 2, 2}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0})},
  };
}

class ConvolutionTest : public testing::TestWithParam<std::tuple<Backend, ConvShape, Form>> {
protected:
  const Backend &backend() const { return std::get<0>(GetParam()); }
  const ConvShape &shape() const { return std::get<1>(GetParam()); }
  Form form() const { return std::get<2>(GetParam()); }

  Array x = randomArray(std::get<1>(GetParam()).x, 1);
  Array w = randomArray(std::get<1>(GetParam()).w, 2);
  Array bias = std::get<1>(GetParam()).hasBias ? randomArray({w.shape[0]}, 3) : Array();
  Array dy = randomArray(outputShape(std::get<1>(GetParam())), 4);
};

TEST_P(ConvolutionTest, ForwardIsTheDefinition) {
  StepCase run(backend(), form());
  const Tensor y = run.result(dy.shape);
  const Tensor b = shape().hasBias ? run.state("b", bias) : none;
  run.step().conv("conv", run.operand(x), run.state("w", w), b, y, shape().window,
                  shape().activation);
  run.run();
  const Array linear = referenceConv(x, w, bias, shape().window, dy.shape);
  expectNear(run, y, shape().activation == Activation::relu ? referenceRelu(linear) : linear);
}

TEST_P(ConvolutionTest, BackwardDataIsTheAdjoint) {
  StepCase run(backend(), form());
  const Tensor dx = run.result(x.shape);
  run.step().convBackwardData("conv", run.operand(dy), run.state("w", w), dx, shape().window);
  run.run();
  expectNear(run, dx, referenceConvBackward(x, w, dy, shape().window).dx);
}

TEST_P(ConvolutionTest, BackwardWeightsIsTheAdjointInTheParametersLayout) {
  StepCase run(backend(), form());
  const Tensor input = run.operand(x);
  const auto [weight, dw] = run.parameter("w", w);
  const auto [b, db] = shape().hasBias ? run.parameter("b", bias) : std::pair(none, none);
  const Tensor y = run.result(dy.shape);
  run.step().conv("conv", input, weight, b, y, shape().window, Activation::none);
  run.step().convBackwardWeights("conv", input, run.operand(dy), dw, db, shape().window);
  run.run();
  const ConvGradients expected = referenceConvBackward(x, w, dy, shape().window);
  expectNear(run, dw, expected.dw);
  if (shape().hasBias)
    expectNear(run, db, expected.dbias);
}

class TransposedConvolutionTest : public ConvolutionTest {};

// y = convBackwardData(dy), whose gradient is x here: that of dy is a convolution of it, and that
// of the weights has the two in each other's place.
TEST_P(TransposedConvolutionTest, IsTrainedInTheParametersLayout) {
  StepCase run(backend(), form());
  const Tensor input = run.operand(dy), gradient = run.operand(x);
  const auto [weight, dw] = run.parameter("w", w);
  const Tensor y = run.result(x.shape), dinput = run.result(dy.shape);
  run.step().convBackwardData("up", input, weight, y, shape().window);
  run.step().convBackwardWeights("up", gradient, input, dw, none, shape().window);
  run.step().conv("up", gradient, weight, none, dinput, shape().window, Activation::none);
  run.run();
  const ConvGradients expected = referenceConvBackward(x, w, dy, shape().window);
  expectNear(run, y, expected.dx);
  expectNear(run, dw, expected.dw);
  expectNear(run, dinput, referenceConv(x, w, {}, shape().window, dy.shape));
}

TEST(ConvolutionReference, BackwardAgreesWithDifferences) {
  const Window strided = window({2, 1}, {1, 2}, {1, 0}, {0, 1}, 2);
  const Array x = randomArray({1, 4, 5, 5}, 1), w = randomArray({6, 2, 3, 2}, 2);
  const Array dy = randomArray({1, 6, 2, 4}, 3);
  const ConvGradients gradients = referenceConvBackward(x, w, dy, strided);
  auto ofX = [&](const Array &at) { return referenceConv(at, w, {}, strided, dy.shape); };
  auto ofW = [&](const Array &at) { return referenceConv(x, at, {}, strided, dy.shape); };
  EXPECT_LE(relativeError(gradients.dx, numericalGradient(ofX, x, dy, 0.5)), 1e-12);
  EXPECT_LE(relativeError(gradients.dw, numericalGradient(ofW, w, dy, 0.5)), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(AllBackends, ConvolutionTest, inBothForms(testing::ValuesIn(convShapes())),
                         caseName);
INSTANTIATE_TEST_SUITE_P(AllBackends, TransposedConvolutionTest,
                         inBothForms(testing::ValuesIn(transposedShapes())), caseName);

} // namespace
} // namespace syncline::conformance
