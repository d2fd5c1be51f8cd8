// Medians and how sure they are.
#include "runtime/calibrate/Statistics.h"

#include <gtest/gtest.h>
#include <random>

namespace syncline::calibrate {
namespace {

TEST(Statistics, KnowsOrderStatistics) {
  const Summary s = summarize({5, 1, 4, 2, 3});
  EXPECT_EQ(s.samples, 5);
  EXPECT_DOUBLE_EQ(s.median, 3);
  EXPECT_DOUBLE_EQ(s.lowerQuartile, 2);
  EXPECT_DOUBLE_EQ(s.upperQuartile, 4);
  EXPECT_DOUBLE_EQ(summarize({1, 2, 3, 4}).median, 2.5);
}

TEST(Statistics, NothingOfNothing) { EXPECT_EQ(summarize({}).samples, 0); }

// The textbook's intervals: of 10 samples the 2nd and the 9th, of 20 the 6th and the 15th.
TEST(Statistics, IntervalIsTheBinomialOne) {
  std::vector<double> samples;
  for (int i = 1; i <= 10; ++i)
    samples.push_back(i);
  EXPECT_DOUBLE_EQ(summarize(samples).low, 2);
  EXPECT_DOUBLE_EQ(summarize(samples).high, 9);
  for (int i = 11; i <= 20; ++i)
    samples.push_back(i);
  EXPECT_DOUBLE_EQ(summarize(samples).low, 6);
  EXPECT_DOUBLE_EQ(summarize(samples).high, 15);
}

// The interval holds the true median of a skewed distribution in at least 95 % of the cases.
TEST(Statistics, IntervalHoldsTheMedian) {
  std::mt19937 random(1);
  std::exponential_distribution<double> distribution(1);
  const double truth = std::log(2);
  int held = 0;
  constexpr int trials = 2000;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> samples(15);
    for (double &sample : samples)
      sample = distribution(random);
    const Summary s = summarize(samples);
    held += s.low <= truth && truth <= s.high;
  }
  EXPECT_GE(held, trials * 94 / 100);
  EXPECT_LT(held, trials);
}

TEST(Statistics, FiveEqualSamplesAreNotStable) {
  EXPECT_FALSE(isStable(summarize({1, 1, 1, 1, 1}), 0.03));
  EXPECT_TRUE(isStable(summarize({1, 1, 1, 1, 1, 1}), 0.03));
}

TEST(Statistics, OutliersDoNotMoveTheMedianButTheInterval) {
  const Summary clean = summarize({1, 1.01, 0.99, 1, 1.01, 0.99});
  EXPECT_TRUE(isStable(clean, 0.03));
  const Summary hit = summarize({1, 1.01, 0.99, 1, 1.01, 9});
  EXPECT_NEAR(hit.median, 1, 0.02);
  EXPECT_FALSE(isStable(hit, 0.03));
  EXPECT_GT(hit.uncertainty(), 1);
}

} // namespace
} // namespace syncline::calibrate
