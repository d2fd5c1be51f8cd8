// Which sums a norm's kernels compute. That numbers are those of two kernels is NormSumTest's.
#include "tests/conformance/StepCase.h"

#include <array>

namespace syncline::cuda {
namespace {

using namespace conformance;

const conformance::Backend fp32 = backends()[0], tf32 = backends()[1], bf16 = backends()[2];

/// Where the residual comes from.
enum class Residual { convolution, samples };

/// Implementations of the norm, the sum, and the same of the backward pass.
std::string implementations(const conformance::Backend &backend, Residual residual,
                            bool hasNeighbour = false) {
  const Array x = randomArray({2, 16, 5, 5}, 1);
  StepCase run(backend, Form::blocked);
  StepBuilder &s = run.step();
  const auto image = [&] { return run.result(x.shape); };
  const Tensor in = run.operand(x);
  const Tensor other = residual == Residual::convolution ? run.operand(x) : run.plainOperand(x);
  const auto [scale, dscale] = run.parameter("scale", randomArray({16}, 2));
  const auto [shift, dshift] = run.parameter("shift", randomArray({16}, 3));
  const Tensor mean = run.result({16}), variance = run.result({16});
  const Tensor y = image(), sum = image(), dy = image(), dx = image();
  const auto between = [&] {
    if (hasNeighbour)
      backend.kernels.twice.append(s, "between", std::array{in}, std::array{image()}, true);
  };
  s.batchNorm("bn", in, scale, shift, none, none, y, mean, variance, none, 1e-5, 0.1);
  between();
  backend.kernels.sumRelu.append(s, "sum", std::array{y, other}, std::array{sum}, true);
  backend.kernels.reluGradient.append(s, "sum", std::array{sum, in}, std::array{dy}, true);
  between();
  s.batchNormBackward("bn", in, scale, mean, variance, none, dy, dx, dscale, dshift, 1e-5);
  EXPECT_EQ(run.failure(), "");
  std::string text;
  for (const core::OperationInfo &operation : (*run).operations())
    if (operation.layer == "bn" || operation.layer == "sum")
      text += (text.empty() ? "" : ", ") + operation.implementation;
  return text;
}

TEST(NormSumsTest, NeighboursShareKernelsWhereNormsAreOurs) {
  for (const conformance::Backend &backend : {tf32, bf16})
    EXPECT_EQ(implementations(backend, Residual::convolution),
              "columns, in batchNorm, in batchNormBackward, columns");
  EXPECT_EQ(implementations(fp32, Residual::convolution), "cudnn, flat, flat, cudnn");
}

TEST(NormSumsTest, OthersDoNot) {
  EXPECT_EQ(implementations(bf16, Residual::convolution, true), "columns, flat, flat, columns");
  // Samples are row-major: the sum takes them as they are turned.
  EXPECT_EQ(implementations(bf16, Residual::samples),
            "columns, flat, in batchNormBackward, columns");
}

// An operation says what it reads and writes, also for another that it computes.
TEST(NormSumsTest, OperandsAreThoseOfTheKernels) {
  const Array x = randomArray({2, 16, 5, 5}, 1);
  StepCase run(tf32, Form::blocked);
  const Tensor in = run.operand(x), other = run.operand(x);
  const auto [scale, dscale] = run.parameter("scale", randomArray({16}, 2));
  const auto [shift, dshift] = run.parameter("shift", randomArray({16}, 3));
  const Tensor mean = run.result({16}), variance = run.result({16});
  const Tensor y = run.result(x.shape), sum = run.result(x.shape), z = run.result(x.shape);
  run.step().batchNorm("bn", in, scale, shift, none, none, y, mean, variance, none, 1e-5, 0.1);
  tf32.kernels.sum.append(run.step(), "sum", std::array{other, y}, std::array{sum}, true);
  const auto &operations = (*run).operations();
  const std::size_t norm = operations.size() - 2;
  EXPECT_EQ(operations[norm].operands.back(), other.id);
  EXPECT_EQ(operations[norm].results, (std::vector{sum.id, mean.id, variance.id}));
  EXPECT_TRUE(operations.back().operands.empty() && operations.back().results.empty());
  tf32.kernels.twice.append(run.step(), "y", std::array{y}, std::array{z}, true);
  EXPECT_EQ((*run).operations()[norm].results.back(), y.id);
}

// The norm that makes the residual keeps its factors, and the other's kernel reads its operand.
TEST(NormSumsTest, TwoNormsAndTheirSumAreOneKernel) {
  const Array x = randomArray({2, 16, 5, 5}, 1);
  StepCase run(bf16, Form::blocked);
  const auto image = [&] { return run.result(x.shape); };
  const Tensor first = run.operand(x), second = run.operand(x);
  const Tensor scale = run.parameter("scale", randomArray({16}, 2)).first;
  const Tensor shift = run.parameter("shift", randomArray({16}, 3)).first;
  const Tensor y1 = image(), y2 = image(), between = image(), sum = image();
  const auto norm = [&](Tensor of, Tensor y) {
    const Tensor mean = run.result({16}), variance = run.result({16});
    run.step().batchNorm("bn", of, scale, shift, none, none, y, mean, variance, none, 1e-5, 0.1);
    return std::vector{y.id, mean.id, variance.id};
  };
  const std::vector<int> ofFirst = norm(first, y1);
  bf16.kernels.twice.append(run.step(), "between", std::array{second}, std::array{between}, true);
  const std::vector<int> ofSecond = norm(second, y2);
  bf16.kernels.sumRelu.append(run.step(), "sum", std::array{y1, y2}, std::array{sum}, true);
  const auto &operations = (*run).operations();
  const core::OperationInfo &one = operations[operations.size() - 4],
                            &two = operations[operations.size() - 2];
  EXPECT_EQ(one.results, (std::vector{ofFirst[1], ofFirst[2]}));
  EXPECT_EQ(two.results, (std::vector{sum.id, ofSecond[1], ofSecond[2]}));
  EXPECT_EQ(two.operands, (std::vector{second.id, scale.id, shift.id, first.id, ofFirst[1]}));
}

} // namespace
} // namespace syncline::cuda
