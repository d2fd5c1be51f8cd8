// A batch norm beside a sum: a residual and a ReLU behind it, and its gradient behind the sum of
// gradients. A backend may compute both at once, where it knows what the loop computes
// (PointwiseInfo::form). Bits are those of a loop that it knows nothing of.
#include "tests/conformance/References.h"
#include "tests/conformance/StepCase.h"

#include <array>
#include <optional>

namespace syncline::conformance {
namespace {

constexpr double epsilon = 1e-5;

/// What makes the residual.
enum class Residual {
  loop,
  norm,           ///< another norm
  readNorm,       ///< another norm, which a third operation reads
  overwrittenNorm ///< another norm, whose operand makes way before the sum
};

/// What varies in a step.
struct Kind {
  std::int64_t channels = 16;
  bool hasRelu = true;
  bool hasTwoGradients = true;
  bool isNormRead = false;             ///< whether a third operation reads the norm's result
  bool isNormLastSummand = false;      ///< whether the norm's result is the loop's last operand
  std::optional<std::int64_t> sumAt{}; ///< the sum's place, in bytes behind the norm's operand
  Residual residual = Residual::loop;
};

FlatLoop unknown(FlatLoop loop) {
  loop.form = LoopForm::other;
  return loop;
}

/// norm → sum → ... → sum of gradients → the norm's gradient
struct Block {
  Block(const Backend &backend, const Kind &kind, bool isKnown)
      : run(backend, Form::blocked), kind(kind) {
    const auto known = [&](const FlatLoop &loop) { return isKnown ? loop : unknown(loop); };
    const PointwiseKernels &loops = backend.kernels;
    build(loops.twice, known(kind.hasRelu ? loops.sumRelu : loops.sum),
          known(!kind.hasRelu          ? loops.sum
                : kind.hasTwoGradients ? loops.sumReluGradient
                                       : loops.reluGradient));
  }

  void build(const FlatLoop &twice, const FlatLoop &sum, const FlatLoop &gradientSum);
  /// Appends the norm that makes the residual.
  Tensor secondNorm(const FlatLoop &twice, Tensor of);
  Tensor inPlace(const char *name, std::int64_t offset) {
    return run.step().tensor({name, Space::arena, ElementType::f32, x.shape, (32 << 20) + offset,
                              core::elementCount(x.shape) * 4});
  }

  StepCase run;
  Kind kind;
  Array x = randomArray({6, kind.channels, 17, 9}, 1), residual = randomArray(x.shape, 2);
  Array scale = randomArray({kind.channels}, 3), shift = randomArray({kind.channels}, 4);
  Tensor sum;
  std::vector<Tensor> compared;
};

Tensor Block::secondNorm(const FlatLoop &twice, Tensor of) {
  const Shape channels{kind.channels};
  const Tensor factor = run.parameter("scale2", scale).first;
  const Tensor offset = run.parameter("shift2", shift).first;
  const Tensor oldMean = run.state("mean2", randomArray(channels, 8));
  const Tensor oldVariance = run.state("variance2", Array(channels, 3.0));
  const Tensor mean = run.result(channels), variance = run.result(channels);
  const Tensor in = inPlace("x2", 8 << 20), y = run.result(x.shape);
  twice.append(run.step(), "x2", std::array{of}, std::array{in}, true);
  run.step().batchNorm("bn2", in, factor, offset, oldMean, oldVariance, y, mean, variance, none,
                       epsilon, 0.1, Activation::none);
  if (kind.residual == Residual::overwrittenNorm)
    twice.append(run.step(), "over", std::array{of}, std::array{inPlace("over", (8 << 20) + 64)},
                 true);
  for (Tensor each : {mean, variance, oldMean, oldVariance})
    compared.push_back(each);
  return y;
}

void Block::build(const FlatLoop &twice, const FlatLoop &sumLoop, const FlatLoop &gradientSum) {
  StepBuilder &s = run.step();
  const Shape channels{kind.channels};
  const auto image = [&] { return run.result(x.shape); };
  const Tensor given = run.operand(x), plain = run.operand(residual);
  const Tensor dy1 = run.operand(randomArray(x.shape, 5));
  const Tensor dy2 = run.operand(randomArray(x.shape, 6));
  const auto [factor, dscale] = run.parameter("scale", scale);
  const auto [offset, dshift] = run.parameter("shift", shift);
  const Tensor oldMean = run.state("mean", randomArray(channels, 7));
  const Tensor oldVariance = run.state("variance", Array(channels, 2.0));
  const Tensor mean = run.result(channels), variance = run.result(channels);
  const Tensor in = kind.sumAt ? inPlace("x", 0) : image(), y = image();
  sum = kind.sumAt ? inPlace("sum", *kind.sumAt) : image();
  const Tensor other = kind.residual == Residual::loop ? plain : secondNorm(twice, plain);
  twice.append(s, "x", std::array{given}, std::array{in}, true);
  s.batchNorm("bn", in, factor, offset, oldMean, oldVariance, y, mean, variance, none, epsilon, 0.1,
              Activation::none);
  const std::array summands = kind.isNormLastSummand ? std::array{other, y} : std::array{y, other};
  sumLoop.append(s, "sum", summands, std::array{sum}, true);
  const auto readToo = [&](Tensor norm) {
    compared.push_back(norm);
    compared.push_back(image());
    twice.append(s, "y", std::array{norm}, std::array{compared.back()}, true);
  };
  if (kind.isNormRead)
    readToo(y);
  if (kind.residual == Residual::readNorm)
    readToo(other);
  s.phase("backward");
  const Tensor dy = image(), dx = image();
  if (!kind.hasRelu)
    gradientSum.append(s, "sum", std::array{dy1, dy2}, std::array{dy}, true);
  else if (kind.hasTwoGradients)
    gradientSum.append(s, "sum", std::array{dy1, sum, dy2}, std::array{dy}, true);
  else
    gradientSum.append(s, "sum", std::array{sum, dy1}, std::array{dy}, true);
  s.batchNormBackward("bn", kind.sumAt ? given : in, factor, mean, variance, none, dy, dx, dscale,
                      dshift, epsilon, Activation::none);
  for (Tensor each : {sum, mean, variance, oldMean, oldVariance, dy, dx, dscale, dshift})
    compared.push_back(each);
}

class NormSumTest : public testing::TestWithParam<Backend> {
protected:
  void expectSameBits(const Kind &kind, bool isEvaluation = false) {
    Block known(GetParam(), kind, true), apart(GetParam(), kind, false);
    for (Block *each : {&known, &apart}) {
      (*each->run).setEvaluation(isEvaluation);
      each->run.run();
    }
    if (isEvaluation) { // which writes no statistics
      EXPECT_EQ(known.run.values(known.sum).values, apart.run.values(apart.sum).values);
      return;
    }
    for (std::size_t i = 0; i < known.compared.size(); ++i)
      EXPECT_EQ(known.run.values(known.compared[i]).values,
                apart.run.values(apart.compared[i]).values)
          << "tensor " << i << " with " << kind.channels << " channels";
    const auto norm = [&](Array of) {
      for (double &value : of.values)
        value *= 2;
      return referenceBatchNorm(of, known.scale, known.shift, epsilon);
    };
    Array wanted = norm(known.x);
    const Array added = kind.residual == Residual::loop ? known.residual : norm(known.residual);
    for (std::size_t i = 0; i < wanted.values.size(); ++i)
      wanted.values[i] += added.values[i];
    expectNear(known.run, known.sum, kind.hasRelu ? referenceRelu(wanted) : wanted);
  }
};

} // namespace

TEST_P(NormSumTest, ResidualSumsAndTheirGradients) {
  for (const std::int64_t channels : {16, 6, 1})
    expectSameBits({.channels = channels});
}

TEST_P(NormSumTest, OneGradient) { expectSameBits({.hasTwoGradients = false}); }
TEST_P(NormSumTest, SumsWithoutRelu) { expectSameBits({.hasRelu = false}); }
TEST_P(NormSumTest, NormIsTheSecondSummand) { expectSameBits({.isNormLastSummand = true}); }
TEST_P(NormSumTest, EvaluatesByRunningStatistics) { expectSameBits({}, true); }

// Its values are those of the norm, though the sum has been computed from it.
TEST_P(NormSumTest, AThirdOperationReadsTheNorm) { expectSameBits({.isNormRead = true}); }

// A block that changes the image's size has a norm on both ways.
TEST_P(NormSumTest, SumsOfTwoNorms) {
  for (const std::int64_t channels : {16, 6})
    expectSameBits({.channels = channels, .residual = Residual::norm});
  expectSameBits({.hasRelu = false, .isNormRead = true, .residual = Residual::norm});
  expectSameBits({.residual = Residual::norm}, true);
}

TEST_P(NormSumTest, TheOtherNormIsReadToo) { expectSameBits({.residual = Residual::readNorm}); }

TEST_P(NormSumTest, OtherNormsWhoseOperandHasMadeWay) {
  expectSameBits({.residual = Residual::overwrittenNorm});
}

// The norm's operand ends with the norm, so that the sum may lie over it, in other rows too.
TEST_P(NormSumTest, SumsInThePlaceOfTheNormsOperand) {
  for (const std::int64_t offset : {0, 64, 4096})
    expectSameBits({.sumAt = offset});
}

// A form that the operands do not have is the generated code's mistake.
TEST_P(NormSumTest, FormsHaveTheirOperands) {
  const auto said = [&](LoopForm form, int gate, std::size_t ins) {
    StepCase run(GetParam());
    const std::vector<Tensor> operands(ins, run.operand(randomArray({2, 4}, 1)));
    const std::array results{run.result({2, 4})};
    run.step().pointwise("loop", GetParam().kernels.sum.kernel, operands, results,
                         {.form = form, .gate = gate});
    return run.failure();
  };
  const std::string wanted = "layer 'loop': pointwise: expected the operands of a sum";
  EXPECT_EQ(said(LoopForm::sum, 0, 2), "");
  EXPECT_EQ(said(LoopForm::sum, 0, 3), wanted);
  EXPECT_EQ(said(LoopForm::sumRelu, 0, 1), wanted);
  EXPECT_EQ(said(LoopForm::reluGradient, 2, 2), wanted);
  EXPECT_EQ(said(LoopForm::reluGradient, 0, 4), wanted);
}

INSTANTIATE_TEST_SUITE_P(Backends, NormSumTest, testing::ValuesIn(backends()),
                         [](const auto &info) { return info.param.name; });

} // namespace syncline::conformance
