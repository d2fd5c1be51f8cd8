// Matrix products against the definition, transposed and broadcast.
#include "tests/conformance/References.h"
#include "tests/conformance/StepCase.h"
#include "tests/conformance/Suites.h"

#include <algorithm>
#include <cmath>

namespace syncline::conformance {
namespace {

struct MatmulShape {
  const char *name;
  Shape a;
  bool transposeA;
  Shape b;
  bool transposeB;
  Shape y;
  Shape bias = {};
  Activation activation = Activation::none;
};

void PrintTo(const MatmulShape &shape, std::ostream *stream) { *stream << shape.name; }

std::vector<MatmulShape> matmulShapes() {
  return {
      {"plain", {3, 5}, false, {5, 7}, false, {3, 7}},
      {"fullyConnected", {4, 40}, false, {24, 40}, true, {4, 24}, {24}},
      {"fullyConnectedBare", {4, 40}, false, {24, 40}, true, {4, 24}},
      {"dataGradient", {4, 24}, false, {24, 40}, false, {4, 40}},
      {"weightGradient", {4, 24}, true, {4, 40}, false, {24, 40}},
      {"bothTransposed", {5, 3}, true, {7, 5}, true, {3, 7}},
      {"biasOfFullShape", {3, 5}, false, {5, 7}, false, {3, 7}, {3, 7}},
      {"fusedRelu", {3, 5}, false, {7, 5}, true, {3, 7}, {7}, Activation::relu},
      {"stacked", {2, 3, 5}, false, {2, 5, 4}, false, {2, 3, 4}},
      {"stackedTransposed", {2, 5, 3}, true, {2, 4, 5}, true, {2, 3, 4}},
      {"oneRightForAll", {2, 3, 3, 5}, false, {5, 4}, false, {2, 3, 3, 4}, {4}},
      {"longRows", {2, 3, 1100}, false, {1100, 4}, false, {2, 3, 4}},
      {"longRowsBias", {2, 3, 1100}, false, {4, 1100}, true, {2, 3, 4}, {4}},
      {"longRowsOfOneStack", {2, 3, 1100}, false, {1, 4, 1100}, true, {2, 3, 4}},
      {"longRowsOfMoreBias", {2, 3, 1100}, false, {4, 1100}, true, {2, 3, 4}, {2, 3, 4}},
      {"longRowsRelu", {2, 3, 1100}, false, {4, 1100}, true, {2, 3, 4}, {4}, Activation::relu},
      {"longStacks", {2, 3, 1100}, false, {2, 4, 1100}, true, {2, 3, 4}},
      {"longOneForAll", {1, 3, 1100}, false, {2, 1100, 4}, false, {2, 3, 4}},
      {"oneRightForAllBare", {2, 3, 7, 40}, false, {1, 1, 33, 40}, true, {2, 3, 7, 33}},
      {"oneRightAndWholeBias", {2, 7, 40}, false, {40, 33}, false, {2, 7, 33}, {2, 7, 33}},
      {"oneRightForAllRelu",
       {2, 7, 40},
       false,
       {40, 33},
       false,
       {2, 7, 33},
       {33},
       Activation::relu},
      {"oneRow", {1, 33}, false, {33, 17}, false, {1, 17}},
  };
}

class MatmulTest : public testing::TestWithParam<std::tuple<Backend, MatmulShape>> {};

TEST_P(MatmulTest, IsTheDefinition) {
  const auto &[backend, shape] = GetParam();
  StepCase run(backend);
  const Array a = randomArray(shape.a, 1), b = randomArray(shape.b, 2);
  Array expected = referenceMatmul(a, shape.transposeA, b, shape.transposeB, shape.y);
  Tensor bias = none;
  if (!shape.bias.empty()) {
    const Array added = randomArray(shape.bias, 3);
    bias = run.plainOperand(added);
    for (std::size_t i = 0; i < expected.values.size(); ++i)
      expected.values[i] += added.values[i % added.values.size()];
  }
  if (shape.activation == Activation::relu)
    expected = referenceRelu(expected);
  const Tensor y = run.result(shape.y);
  run.step().matmul("fc", run.plainOperand(a), shape.transposeA, run.plainOperand(b),
                    shape.transposeB, bias, y, shape.activation);
  run.run();
  expectNear(run, y, expected);
}

class LongSums : public testing::TestWithParam<Backend> {};

// In one float for 1,024 terms at a time they would be off by 5.8e-7, in more parts by 3.6e-7.
TEST_P(LongSums, AreSummedInParts) {
  StepCase run(GetParam());
  const Shape rows{4, 12, 16384}, weights{32, 16384}, result{4, 12, 32};
  const Array a = randomArray(rows, 1), b = randomArray(weights, 2);
  const Array expected = referenceMatmul(a, false, b, true, result);
  const Tensor y = run.result(result);
  run.step().matmul("fc", run.plainOperand(a), false, run.plainOperand(b), true, none, y);
  run.run();
  double wrong = 0, all = 0;
  const Array actual = run.values(y);
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    wrong += std::pow(actual.values[i] - expected.values[i], 2);
    all += std::pow(expected.values[i], 2);
  }
  EXPECT_LE(std::sqrt(wrong / all), std::max(4.7e-7, run.rounding()));
}

INSTANTIATE_TEST_SUITE_P(AllBackends, LongSums, testing::ValuesIn(backends()),
                         [](const auto &info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(AllBackends, MatmulTest,
                         testing::Combine(testing::ValuesIn(backends()),
                                          testing::ValuesIn(matmulShapes())),
                         caseName);

} // namespace
} // namespace syncline::conformance
