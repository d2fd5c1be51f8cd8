// Softmax and the losses against their definitions.
#include "tests/conformance/References.h"
#include "tests/conformance/StepCase.h"

#include <cmath>
#include <limits>

namespace syncline::conformance {
namespace {

class LossTest : public testing::TestWithParam<Backend> {};

TEST_P(LossTest, SoftmaxAlongEachAxisAndItsBackward) {
  const Array x = randomArray({3, 5, 4}, 1), dy = randomArray(x.shape, 2);
  for (const bool logarithm : {false, true})
    for (const std::int64_t axis : {0, 1, 2}) {
      StepCase run(GetParam());
      const Tensor y = run.result(x.shape), dx = run.result(x.shape);
      run.step().softmax("softmax", run.operand(x), y, axis, logarithm);
      run.step().softmaxBackward("softmax", y, run.operand(dy), dx, axis, logarithm);
      run.run();
      auto forward = [&](const Array &at) { return referenceSoftmax(at, axis, logarithm); };
      expectNear(run, y, forward(x));
      expectNear(run, dx, numericalGradient(forward, x, dy));
    }
}

TEST_P(LossTest, SoftmaxOfLargeValuesDoesNotOverflow) {
  Array x({1, 3});
  x.values = {1000, 1000, -1000};
  Array expected({1, 3});
  expected.values = {0.5, 0.5, 0};
  StepCase run(GetParam());
  const Tensor y = run.result(x.shape);
  run.step().softmax("softmax", run.operand(x), y, 1, false);
  run.run();
  expectNear(run, y, expected);
}

TEST_P(LossTest, SoftmaxOfLongRowsLeavesOutWhatIsMasked) {
  for (const std::int64_t extent : {15, 16, 17, 67}) {
    Array x = randomArray({3, extent}, 5);
    x.values[1] = x.values[static_cast<std::size_t>(extent) * 2 - 1] =
        -std::numeric_limits<double>::infinity();
    const Array dy = randomArray(x.shape, 6);
    StepCase run(GetParam());
    const Tensor y = run.result(x.shape), dx = run.result(x.shape);
    run.step().softmax("softmax", run.operand(x), y, 1, false);
    run.step().softmaxBackward("softmax", y, run.operand(dy), dx, 1, false);
    run.run();
    const Array expected = referenceSoftmax(x, 1, false);
    Array gradient(x.shape);
    for (std::int64_t i = 0; i < 3 * extent; ++i) {
      double sum = 0;
      for (std::int64_t k = i / extent * extent; k < (i / extent + 1) * extent; ++k)
        sum +=
            expected.values[static_cast<std::size_t>(k)] * dy.values[static_cast<std::size_t>(k)];
      const auto at = static_cast<std::size_t>(i);
      gradient.values[at] = expected.values[at] * (dy.values[at] - sum);
    }
    expectNear(run, y, expected);
    expectNear(run, dx, gradient);
  }
}

/// Compares loss and gradient of these logits and labels with the definition.
void crossEntropy(const Backend &backend, const Shape &shape, const Array &target,
                  double smoothing = 0, const Array &weights = {}) {
  const Array logits = randomArray(shape, 1);
  StepCase run(backend);
  const Tensor loss = run.result({}), dlogits = run.result(shape);
  run.step().crossEntropy("loss", run.operand(logits), run.plainOperand(target, ElementType::i64),
                          weights.shape.empty() ? Tensor() : run.operand(weights), loss, dlogits,
                          smoothing);
  run.step().loss(loss);
  run.run();
  auto forward = [&](const Array &at) {
    return referenceCrossEntropy(at, target, smoothing, weights);
  };
  expectNear(run, loss, forward(logits));
  EXPECT_NEAR((*run).loss(), forward(logits).values[0], 1e-5);
  expectNear(run, dlogits, numericalGradient(forward, logits, Array({}, 1)));
}

/// Labels of this shape, each of `classes` classes.
Array labelsOf(const Shape &shape, std::int64_t classes) {
  Array target(shape);
  for (std::size_t i = 0; i < target.values.size(); ++i)
    target.values[i] = static_cast<double>((i * 3) % static_cast<std::size_t>(classes));
  return target;
}

TEST_P(LossTest, CrossEntropyIsTheMeanOverSamplesAndPositions) {
  for (const Shape &shape : {Shape{4, 6}, Shape{2, 5, 3}, Shape{9, 40}}) {
    Shape labels = shape;
    labels.erase(labels.begin() + 1);
    crossEntropy(GetParam(), shape, labelsOf(labels, shape[1]));
  }
}

TEST_P(LossTest, CrossEntropyTakesClassesOfTheLastDimension) {
  for (const Shape &shape : {Shape{2, 3, 5}, Shape{3, 7, 40}, Shape{2, 2, 3, 4}})
    crossEntropy(GetParam(), shape, labelsOf({shape.begin(), shape.end() - 1}, shape.back()));
}

// Ignored positions count neither in the mean nor in the gradient.
TEST_P(LossTest, CrossEntropyLeavesIgnoredLabelsOut) {
  for (const Shape &shape : {Shape{2, 40, 3}, Shape{2, 5, 40}}) {
    Array target = labelsOf(shape[1] == 40 ? Shape{2, 3} : Shape{2, 5}, 40);
    target.values[1] = target.values[4] = -100;
    crossEntropy(GetParam(), shape, target);
  }
}

/// Labels of logits [4, 6], or with 40 classes in dimension 1 or 2.
Array withOneIgnored(const Shape &logits) {
  Array target = logits.size() == 2 ? labelsOf({4}, 6)
                                    : labelsOf({2, logits[1] == 40 ? logits[2] : logits[1]}, 40);
  target.values[1] = -100;
  return target;
}

TEST_P(LossTest, CrossEntropySmoothsLabels) {
  for (const double smoothing : {0.1, 0.9})
    for (const Shape &shape : {Shape{4, 6}, Shape{2, 40, 3}, Shape{2, 5, 40}})
      crossEntropy(GetParam(), shape, withOneIgnored(shape), smoothing);
}

// A scale multiplies the gradient, to the bit where it is a power of two, and not the loss.
TEST_P(LossTest, ScalesTheGradientAlone) {
  const Array x = randomArray({4, 6}, 1), y = randomArray(x.shape, 2);
  Array target({4}, 2);
  for (const bool isMean : {false, true}) {
    std::vector<double> gradients[2];
    double losses[2];
    for (const bool isScaled : {false, true}) {
      StepCase run(GetParam());
      const Tensor loss = run.result({}), gradient = run.result(x.shape);
      if (isMean)
        run.step().meanSquaredError("loss", run.operand(x), run.operand(y), loss, gradient);
      else
        run.step().crossEntropy("loss", run.operand(x), run.plainOperand(target, ElementType::i64),
                                Tensor(), loss, gradient);
      run.step().loss(loss);
      ASSERT_TRUE((*run).setLossScale(isScaled ? 1024 : 1).isOk());
      run.run();
      losses[isScaled] = (*run).loss();
      gradients[isScaled] = run.values(gradient).values;
    }
    EXPECT_EQ(losses[0], losses[1]);
    for (std::size_t i = 0; i < gradients[0].size(); ++i)
      EXPECT_EQ(gradients[1][i], 1024 * gradients[0][i]);
  }
}

// A weight multiplies the gradient, whatever the scale is, and not the loss; at 0 that is 0.
TEST_P(LossTest, WeighsTheGradientOfACrossEntropy) {
  const Array x = randomArray({4, 6}, 1);
  const Array target({4}, 2), ignored({4}, -100);
  std::vector<double> plain;
  for (const double weight : {1.0, 0.25, 0.0}) {
    StepCase run(GetParam());
    const Tensor loss = run.result({}), gradient = run.result(x.shape);
    const Array &labels = weight == 0 ? ignored : target;
    run.step().crossEntropy("loss", run.operand(x), run.plainOperand(labels, ElementType::i64),
                            Tensor(), loss, gradient);
    run.step().loss(loss);
    ASSERT_TRUE((*run).weighLoss(weight).isOk());
    ASSERT_TRUE((*run).setLossScale(weight == 1 ? 1 : 2).isOk());
    run.run();
    const std::vector<double> found = run.values(gradient).values;
    if (weight == 1)
      plain = found;
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_EQ(found[i], weight == 1 ? found[i] : 2 * weight * plain[i]);
    if (weight == 0) {
      EXPECT_EQ((*run).loss(), 0);
    }
  }
}

TEST_P(LossTest, CrossEntropyOfALabelOutOfRangeIsNotANumber) {
  Array target({1}, 9);
  StepCase run(GetParam());
  const Tensor loss = run.result({}), dlogits = run.result({1, 3});
  run.step().crossEntropy("loss", run.operand(randomArray({1, 3}, 1)),
                          run.plainOperand(target, ElementType::i64), Tensor(), loss, dlogits);
  run.step().loss(loss);
  run.run();
  EXPECT_TRUE(std::isnan((*run).loss()));
}

/// Weights of this many classes, of which each third is 0.
Array weightsOf(std::int64_t classes) {
  Array weights({classes});
  for (std::size_t i = 0; i < weights.values.size(); ++i)
    weights.values[i] = i % 3 == 2 ? 0 : 0.25 + static_cast<double>(i % 5);
  return weights;
}

TEST_P(LossTest, CrossEntropyWeighsClasses) {
  for (const double smoothing : {0.0, 0.3})
    for (const Shape &shape : {Shape{4, 6}, Shape{2, 40, 3}, Shape{2, 5, 40}}) {
      Array target = withOneIgnored(shape);
      target.values[3] = 2;
      crossEntropy(GetParam(), shape, target, smoothing,
                   weightsOf(shape.back() == 40 ? 40 : shape[1]));
    }
}

/// The loss, then the gradient, of a batch with labels of weight 0 or ignored ones alone.
std::vector<double> withoutWeight(const Backend &backend, double label, double smoothing,
                                  bool isWeighed) {
  StepCase run(backend);
  const Tensor loss = run.result({}), gradient = run.result({2, 6});
  run.step().crossEntropy("loss", run.operand(randomArray({2, 6}, 1)),
                          run.plainOperand(Array({2}, label), ElementType::i64),
                          run.operand(weightsOf(6)), loss, gradient, smoothing);
  run.step().loss(loss);
  if (isWeighed) {
    EXPECT_TRUE((*run).weighLoss(0.5).isOk());
  }
  run.run();
  std::vector<double> found{(*run).loss()};
  std::ranges::copy(run.values(gradient).values, std::back_inserter(found));
  return found;
}

// A mean over labels that weigh nothing is none, as in PyTorch. Where the batch has a weight in its
// step it is the sum, which is 0 but for the part that smoothing adds.
TEST_P(LossTest, CrossEntropyOfLabelsThatWeighNothing) {
  for (const double smoothing : {0.0, 0.3})
    for (const double label : {2.0, -100.0}) {
      const std::vector<double> alone = withoutWeight(GetParam(), label, smoothing, false),
                                part = withoutWeight(GetParam(), label, smoothing, true);
      EXPECT_FALSE(std::isfinite(alone[0]));
      const bool isZero = smoothing == 0 || label < 0;
      for (const double value : part)
        EXPECT_TRUE(isZero ? value == 0 : std::isfinite(value) && value != 0) << value;
    }
}

TEST_P(LossTest, CrossEntropySumsWhatSmoothingAdds) {
  const Array logits = randomArray({2, 6}, 1);
  const Array target({2}, 1);
  const double ofBoth = referenceCrossEntropy(logits, target, 0.3, weightsOf(6)).values[0],
               ofLabels = referenceCrossEntropy(logits, target, 0, weightsOf(6)).values[0];
  EXPECT_NEAR(withoutWeight(GetParam(), 2, 0.3, true)[0],
              (ofBoth - 0.7 * ofLabels) * 2 * weightsOf(6).values[1], 1e-5);
}

void meanSquares(const Backend &backend, const Array &y, const Array &target) {
  StepCase run(backend);
  const Tensor loss = run.result({}), dy = run.result(y.shape);
  run.step().meanSquaredError("loss", run.operand(y), run.operand(target), loss, dy);
  run.run();
  auto forward = [&](const Array &at) {
    Array mean{Shape{}};
    for (std::size_t i = 0; i < at.values.size(); ++i)
      mean.values[0] +=
          std::pow(at.values[i] - target.values[i], 2) / static_cast<double>(at.size());
    return mean;
  };
  expectNear(run, loss, forward(y));
  expectNear(run, dy, numericalGradient(forward, y, Array({}, 1)));
}

TEST_P(LossTest, MeanSquaredErrorIsOverAllElements) {
  for (const Shape &shape : {Shape{3, 4}, Shape{40, 33}})
    meanSquares(GetParam(), randomArray(shape, 1), randomArray(shape, 2));
}

INSTANTIATE_TEST_SUITE_P(AllBackends, LossTest, testing::ValuesIn(backends()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace syncline::conformance
