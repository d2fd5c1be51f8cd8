// Matrix products against the definition, transposed and broadcast.
#include "tests/conformance/References.h"
#include "tests/conformance/StepCase.h"
#include "tests/conformance/Suites.h"

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

INSTANTIATE_TEST_SUITE_P(AllBackends, MatmulTest,
                         testing::Combine(testing::ValuesIn(backends()),
                                          testing::ValuesIn(matmulShapes())),
                         caseName);

} // namespace
} // namespace syncline::conformance
