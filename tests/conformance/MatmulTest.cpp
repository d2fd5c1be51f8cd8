// Matrix products against the definition, transposed and broadcast.
#include "tests/conformance/References.h"
#include "tests/conformance/StepCase.h"
#include "tests/conformance/Suites.h"

#include <algorithm>

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
      {"longSquareBiasOfRows", {64, 400}, false, {64, 400}, true, {64, 64}, {64, 1}},
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
    const auto columns = static_cast<std::size_t>(shape.y.back());
    for (std::size_t i = 0; i < expected.values.size(); ++i)
      expected.values[i] +=
          added.values[shape.bias.back() == 1 ? i / columns : i % added.values.size()];
  }
  if (shape.activation == Activation::relu)
    expected = referenceRelu(expected);
  const Tensor y = run.result(shape.y);
  run.step().matmul("fc", run.plainOperand(a), shape.transposeA, run.plainOperand(b),
                    shape.transposeB, bias, y, shape.activation);
  run.run();
  expectNear(run, y, expected);
}

/// A product of sums of many terms, and by how much of their norm a CPU's may be off.
struct LongSum : MatmulShape {
  double bound;
};

void PrintTo(const LongSum &sum, std::ostream *stream) { *stream << sum.name; }

// Summed in parts of 128 terms, and the first one in parts of 384, they are off by 0.75 of these
// bounds. In parts of 384 terms the others would be off by 3.5e-7, in one float for 1,024 terms the
// first one by 5.8e-7.
std::vector<LongSum> longSums() {
  return {
      {{"fewColumns", {4, 12, 16384}, false, {32, 16384}, true, {4, 12, 32}}, 4.7e-7},
      {{"weightGradient", {3136, 64}, true, {3136, 96}, false, {64, 96}}, 2.9e-7},
      {{"dataGradient", {4, 32, 768}, false, {768, 64}, false, {4, 32, 64}}, 2.8e-7},
      {{"stackedBias", {4, 32, 768}, false, {64, 768}, true, {4, 32, 64}, {64}}, 2.8e-7},
      {{"fullyConnectedBias", {96, 768}, false, {64, 768}, true, {96, 64}, {64}}, 2.8e-7},
  };
}

class LongSums : public testing::TestWithParam<std::tuple<Backend, LongSum>> {};

TEST_P(LongSums, AreSummedInParts) {
  const auto &[backend, shape] = GetParam();
  StepCase run(backend);
  const Array a = randomArray(shape.a, 1), b = randomArray(shape.b, 2);
  const Array expected = referenceMatmul(a, shape.transposeA, b, shape.transposeB, shape.y);
  Tensor bias = none;
  if (!shape.bias.empty())
    bias = run.plainOperand(Array(shape.bias));
  const Tensor y = run.result(shape.y);
  run.step().matmul("fc", run.plainOperand(a), shape.transposeA, run.plainOperand(b),
                    shape.transposeB, bias, y);
  run.run();
  const double bound = backend.name.starts_with("cpu") ? shape.bound : 4.7e-7;
  EXPECT_LE(relativeError(run.values(y), expected), std::max(bound, run.rounding()));
}

INSTANTIATE_TEST_SUITE_P(AllBackends, LongSums,
                         testing::Combine(testing::ValuesIn(backends()),
                                          testing::ValuesIn(longSums())),
                         caseName);

class SumsByThreads : public testing::TestWithParam<Backend> {};

// Threads divide the rows or the columns, not the terms. The widest result is several slices.
TEST_P(SumsByThreads, HaveEqualBits) {
  for (const Shape &result : {Shape{200, 130}, Shape{130, 200}, Shape{64, 9000}}) {
    const Array a = randomArray({140, result[0]}, 1), b = randomArray({140, result[1]}, 2);
    const Array expected = referenceMatmul(a, true, b, false, result);
    std::vector<double> found;
    for (const int threads : {1, 3}) {
      StepCase run(GetParam(), Form::plain, 1, threads);
      const Tensor y = run.result(result);
      run.step().matmul("fc", run.plainOperand(a), true, run.plainOperand(b), false, none, y);
      run.run();
      expectNear(run, y, expected);
      const Array now = run.values(y);
      EXPECT_EQ(found.empty() ? now.values : found, now.values);
      found = now.values;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllBackends, SumsByThreads, testing::ValuesIn(backends()),
                         [](const auto &info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(AllBackends, MatmulTest,
                         testing::Combine(testing::ValuesIn(backends()),
                                          testing::ValuesIn(matmulShapes())),
                         caseName);

} // namespace
} // namespace syncline::conformance
