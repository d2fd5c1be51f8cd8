// Scores of a batch, and their text where there is nothing to score.
#include "runtime/run/Evaluation.h"

#include "runtime/core/Labels.h"
#include "runtime/run/ReportText.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace syncline::run {
namespace {

constexpr float none = -std::numeric_limits<float>::infinity();

template <typename T> data::Array arrayOf(const std::vector<T> &values, ElementType type) {
  data::Array array;
  array.type = type;
  array.shape = {static_cast<std::int64_t>(values.size())};
  array.data = reinterpret_cast<const std::byte *>(values.data());
  return array;
}

Plan planOf(const std::string &loss, const Shape &output, const Shape &target, ElementType type,
            const std::vector<double> &weights) {
  Plan plan;
  plan.loss = *TrainedLoss::parse(loss);
  plan.loss.classWeights = weights;
  plan.output = NamedTensor{"y", ElementType::f32, output};
  plan.target = NamedTensor{"target", type, target};
  return plan;
}

Score scoreOf(const std::vector<float> &logits, const std::vector<float> &probabilities,
              const std::string &loss = "cross-entropy:targets=probabilities",
              const std::vector<double> &weights = {}) {
  const Shape shape{1, static_cast<std::int64_t>(logits.size())};
  return scoreBatch(planOf(loss, shape, shape, ElementType::f32, weights),
                    arrayOf(logits, ElementType::f32), arrayOf(probabilities, ElementType::f32), 1);
}

Score scoreOfLabel(const std::vector<float> &logits, std::int64_t label,
                   const std::string &loss = "cross-entropy",
                   const std::vector<double> &weights = {}) {
  const std::vector<std::int64_t> labels{label};
  return scoreBatch(
      planOf(loss, {1, static_cast<std::int64_t>(logits.size())}, {1}, ElementType::i64, weights),
      arrayOf(logits, ElementType::f32), arrayOf(labels, ElementType::i64), 1);
}

// A class that the model excludes, but the target does not, costs infinitely much, as in PyTorch.
TEST(Evaluation, ExcludedClassWithProbabilityIsInfinite) {
  EXPECT_EQ(scoreOf({none, 0, 1}, {0.5F, 0.5F, 0}).lossSum, INFINITY);
  EXPECT_EQ(scoreOf({0, none, 1}, {0.5F, 0.5F, 0}).lossSum, INFINITY);
}

// An excluded class takes no part in the sum of the others.
TEST(Evaluation, ExcludedClassLeavesTheOthers) {
  EXPECT_DOUBLE_EQ(scoreOfLabel({none, 0, 0}, 1).lossSum, std::log(2.0));
  EXPECT_EQ(scoreOfLabel({none, 0, 0}, 0).lossSum, INFINITY);
}

// Probabilities cost the mean of the labels' losses.
TEST(Evaluation, ProbabilitiesWeighLabels) {
  const std::vector<float> logits{3, -1, 0.5F};
  const double expected =
      0.25 * scoreOfLabel(logits, 0).lossSum + 0.75 * scoreOfLabel(logits, 2).lossSum;
  EXPECT_NEAR(scoreOf(logits, {0.25F, 0, 0.75F}).lossSum, expected, 1e-14);
}

// A smoothed label costs what its probabilities cost.
TEST(Evaluation, SmoothingSpreadsALabel) {
  const std::vector<float> logits{3, -1, 0.5F, 2};
  const double expected = scoreOf(logits, {0.1F, 0.1F, 0.7F, 0.1F}).lossSum;
  EXPECT_NEAR(scoreOfLabel(logits, 2, "cross-entropy:smoothing=0.4").lossSum, expected, 1e-6);
  EXPECT_NEAR(
      scoreOf(logits, {0, 0, 1, 0}, "cross-entropy:targets=probabilities,smoothing=0.4").lossSum,
      expected, 1e-6);
}

// A weighed label counts as often as its class weighs; probabilities count once.
TEST(Evaluation, WeightsMultiplyLosses) {
  const std::vector<float> logits{3, -1, 0.5F, 2};
  const Score plain = scoreOfLabel(logits, 2),
              weighed = scoreOfLabel(logits, 2, "cross-entropy:weights=w", {1, 1, 0.25, 1});
  EXPECT_DOUBLE_EQ(weighed.lossSum, 0.25 * plain.lossSum);
  EXPECT_EQ(weighed.losses, 0.25);
  EXPECT_EQ(weighed.predictions, 1);
  const Score soft = scoreOf(logits, {0, 0.5F, 0.5F, 0},
                             "cross-entropy:targets=probabilities,weights=w", {1, 0, 0.25, 1});
  EXPECT_DOUBLE_EQ(soft.lossSum, 0.5 * weighed.lossSum);
  EXPECT_EQ(soft.losses, 1);
}

// Without a label there is no loss, which is not a loss of zero.
TEST(Evaluation, NothingIsScoredWithoutLabels) {
  const Score score = scoreOfLabel({0, 1}, core::ignoredLabel);
  EXPECT_EQ(score.losses, 0);
  EXPECT_EQ(scoreText(score), "no test loss: no sample has a label");
  nlohmann::ordered_json line;
  addScore(line, score);
  EXPECT_EQ(line.dump(), R"({"test_loss":"nan"})");
}

} // namespace
} // namespace syncline::run
