// What the loss of a micro-batch weighs where labels weigh differently.
#include "tests/support/TemporaryFolder.h"

#include "runtime/core/Labels.h"
#include "runtime/data/Npy.h"
#include "runtime/run/LabelWeights.h"

#include <cmath>
#include <gtest/gtest.h>

namespace syncline {
namespace {

using namespace data;
using run::LabelWeights;

/// Samples of four labels each, in two shards; sample i has counts[i] labels that count, each of
/// class `label`.
Result<Dataset> withLabels(const test::TemporaryFolder &folder,
                           const std::vector<std::int64_t> &counts,
                           const std::vector<double> &weights = {}, std::int64_t label = 1) {
  const auto half = counts.size() / 2;
  for (const bool isSecond : {false, true}) {
    const std::vector<std::int64_t> part(counts.begin() + (isSecond ? half : 0),
                                         isSecond ? counts.end() : counts.begin() + half);
    const auto size = static_cast<std::int64_t>(part.size());
    std::vector<float> x(part.size());
    std::vector<std::int64_t> y(4 * part.size());
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] = static_cast<std::int64_t>(i % 4) < part[i / 4] ? label : core::ignoredLabel;
    const std::string stem = folder.file(isSecond ? "b" : "a");
    EXPECT_TRUE(writeNpy(stem + "-x.npy", ElementType::f32, {size, 1}, x.data()).isOk());
    EXPECT_TRUE(writeNpy(stem + "-y.npy", ElementType::i64, {size, 4}, y.data()).isOk());
  }
  return Dataset::open(
      folder.path,
      {{{"x", ElementType::f32, {1, 1}}}, ElementType::i64, {1, 4}, true, 5, {}, weights});
}

// Samples 0 to 7 are the first step, those of rank 1 the second half, two a micro-batch.
TEST(LabelWeights, AreAMicroBatchesLabelsOverTheMeanOfTheStep) {
  const test::TemporaryFolder folder;
  const std::vector<std::int64_t> counts{4, 4, 0, 0, 1, 0, 3, 4, 1, 1, 1, 1, 2, 0, 1, 1};
  const Result<Dataset> data = withLabels(folder, counts);
  ASSERT_TRUE(data.isOk()) << data.status().message();
  ASSERT_TRUE(data->weighsLabels());
  LabelWeights first(*data, {true, 2, {0, 4, 8}, 2}, false, 0),
      second(*data, {true, 2, {4, 4, 8}, 2}, false, 0);
  EXPECT_EQ(first.of(0), 8 / 4.0);
  EXPECT_EQ(first.of(1), 0);
  EXPECT_EQ(second.of(0), 1 / 4.0);
  EXPECT_EQ(second.of(1), 7 / 4.0);
  for (const std::int64_t microBatch : {2, 3}) { // equal numbers of labels
    EXPECT_EQ(first.of(microBatch), 1);
    EXPECT_EQ(second.of(microBatch), 1);
  }
}

// One sample with four labels beside two with five in all, of whose steps the labels are nine.
TEST(LabelWeights, CountLabelsOfUnequalBatches) {
  const test::TemporaryFolder folder;
  const Result<Dataset> data = withLabels(folder, {4, 4, 1, 2, 3, 1});
  ASSERT_TRUE(data.isOk()) << data.status().message();
  LabelWeights first(*data, {true, 2, {0, 1, 3}, 1}, false, 0),
      second(*data, {true, 2, {1, 2, 3}, 1}, false, 0);
  EXPECT_EQ(first.of(0), 4 * 2 / 9.0);
  EXPECT_EQ(second.of(0), 5 * 2 / 9.0);
  EXPECT_EQ(first.of(1), 2 * 2 / 6.0);
  EXPECT_EQ(second.of(1), 4 * 2 / 6.0);
}

TEST(LabelWeights, OfARankByItselfLeaveTheOthersOut) {
  const test::TemporaryFolder folder;
  const Result<Dataset> data = withLabels(folder, {4, 4, 4, 4, 1, 0, 3, 4});
  ASSERT_TRUE(data.isOk()) << data.status().message();
  LabelWeights own(*data, {false, 2, {4, 4, 8}, 2}, false, 0);
  EXPECT_EQ(own.of(0), 1 / 4.0);
  EXPECT_EQ(own.of(1), 7 / 4.0);
}

// Whatever the order of samples is, the weights of all micro-batches of a step have the mean 1.
TEST(LabelWeights, FollowTheShuffledSamples) {
  const test::TemporaryFolder folder;
  const std::vector<std::int64_t> counts{4, 4, 0, 0, 1, 0, 3, 4, 1, 1, 1, 1};
  const Result<Dataset> data = withLabels(folder, counts);
  ASSERT_TRUE(data.isOk()) << data.status().message();
  for (int rank = 0; rank < 3; ++rank) {
    Sampler sampler(12, 3, rank, 2, true, 9);
    LabelWeights weights(*data, {true, 3, {2 * rank, 2, 6}, 1}, true, 9);
    for (std::int64_t step = 0; step < 6; ++step) {
      double own = 0, all = 0;
      for (int other = 0; other < 3; ++other)
        for (std::int64_t i : Sampler(12, 3, other, 2, true, 9).at(step).indices) {
          all += static_cast<double>(counts[static_cast<std::size_t>(i)]);
          own += other == rank ? static_cast<double>(counts[static_cast<std::size_t>(i)]) : 0;
        }
      EXPECT_EQ(weights.of(step), own * 3 / all);
    }
  }
}

TEST(LabelWeights, OfAStepWithoutLabelsAreNotNumbers) {
  const test::TemporaryFolder folder;
  const Result<Dataset> data = withLabels(folder, {0, 0, 4, 4});
  ASSERT_TRUE(data.isOk()) << data.status().message();
  LabelWeights weights(*data, {true, 2, {0, 1, 2}, 1}, false, 0);
  EXPECT_TRUE(std::isnan(weights.of(0)));
  EXPECT_EQ(weights.of(1), 1);
}

// Labels count by the weights of their classes.
TEST(LabelWeights, AddUpTheWeightsOfClasses) {
  const test::TemporaryFolder folder;
  const Result<Dataset> data = withLabels(folder, {4, 4, 0, 2}, {1, 2.5, 1, 1, 1});
  ASSERT_TRUE(data.isOk()) << data.status().message();
  EXPECT_TRUE(data->weighsLabels() && data->weighsClasses());
  EXPECT_EQ(data->weightOfLabels(std::vector<std::int64_t>{0, 1, 2, 3}), 25);
  LabelWeights first(*data, {true, 2, {0, 2, 4}, 2}, false, 0),
      second(*data, {true, 2, {2, 2, 4}, 2}, false, 0);
  EXPECT_EQ(first.of(0), 10 * 4 / 25.0);
  EXPECT_EQ(second.of(1), 5 * 4 / 25.0);
  EXPECT_EQ(second.of(0), 4 / 25.0); // of its sum, in place of its mean
}

// Weights count where no label is ignored, too.
TEST(LabelWeights, OfClassesThatWeighNothingAreNotNumbers) {
  const test::TemporaryFolder folder;
  const Result<Dataset> data = withLabels(folder, {4, 4}, {0, 1, 1, 1, 1}, 0);
  ASSERT_TRUE(data.isOk()) << data.status().message();
  EXPECT_TRUE(data->weighsLabels());
  EXPECT_TRUE(std::isnan(LabelWeights(*data, {true, 2, {0, 1, 2}, 1}, false, 0).of(0)));
}

} // namespace
} // namespace syncline
