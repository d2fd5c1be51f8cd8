// Repeating ends when the medians are stable, or with the time.
#include "runtime/calibrate/Repeat.h"
#include "runtime/calibrate/Transfers.h"

#include <gtest/gtest.h>
#include <random>

namespace syncline::calibrate {
namespace {

const auto never = [] { return 0.0; };

TEST(Repeat, StopsWhenStable) {
  int taken = 0;
  const Sample steady = [&]() -> Result<double> { return ++taken, 2.0; };
  const auto summaries = repeat(std::span(&steady, 1), {.until = 1}, never);
  ASSERT_TRUE(summaries.isOk());
  EXPECT_EQ(summaries->front().samples, fewestForInterval);
  EXPECT_EQ(taken, fewestForInterval + 1);
}

// The first round, which is always slow, is in no summary.
TEST(Repeat, ThrowsTheFirstRoundAway) {
  std::vector<double> taken;
  const Sample sample = [&]() -> Result<double> {
    return taken.emplace_back(taken.empty() ? 100 : 1);
  };
  const auto summaries = repeat(std::span(&sample, 1), {.until = 1}, never);
  EXPECT_DOUBLE_EQ((*summaries)[0].upperQuartile, 1);
  removeWarmUps(taken, (*summaries)[0]);
  EXPECT_EQ(taken, std::vector<double>(fewestForInterval, 1));
}

// One noisy condition keeps the other going, turn by turn; their medians are right.
TEST(Repeat, AllConditionsHaveToBeStable) {
  std::mt19937 random(5);
  std::normal_distribution<double> noise(1, 0.1);
  std::string order;
  const Sample samples[] = {[&]() -> Result<double> { return order += 'a', 3.0; },
                            [&]() -> Result<double> { return order += 'b', noise(random); }};
  const auto summaries = repeat(samples, {.until = 1}, never);
  EXPECT_GT((*summaries)[0].samples, fewestForInterval);
  EXPECT_LT((*summaries)[1].samples, 200);
  EXPECT_EQ((*summaries)[0].samples, (*summaries)[1].samples);
  EXPECT_TRUE(isStable((*summaries)[1], 0.03));
  EXPECT_NEAR((*summaries)[1].median, 1, 0.05);
  EXPECT_EQ(order.substr(0, 4), "abab");
}

TEST(Repeat, StopsWithTheTimeButNotBeforeTheLeastRounds) {
  int taken = 0;
  const Sample wild = [&]() -> Result<double> { return ++taken % 7; };
  const auto summaries =
      repeat(std::span(&wild, 1), {.minRounds = 3, .until = 5}, [&] { return 10.0; });
  EXPECT_EQ(summaries->front().samples, 3);
}

// Long messages ask for fewer samples, none of them thrown away.
TEST(Repeat, FewSamplesAreEnoughWhereAskedFor) {
  int taken = 0;
  const Sample steady = [&]() -> Result<double> { return ++taken, 2.0; };
  const auto summaries = repeat(
      std::span(&steady, 1), {.minRounds = 2, .stableRounds = 3, .warmUps = 0, .until = 1}, never);
  EXPECT_EQ(summaries->front().samples, 3);
  EXPECT_EQ(taken, 3);
}

TEST(Repeat, ErrorsEndIt) {
  const Sample broken = []() -> Result<double> {
    return Status::error(ErrorKind::peerLost, "lost rank 1");
  };
  const auto summaries = repeat(std::span(&broken, 1), {.until = 1}, never);
  ASSERT_FALSE(summaries.isOk());
  EXPECT_EQ(summaries.status().message(), "lost rank 1");
}

// A sample takes about 5 ms, and the same before it that does not count: bursts are used up.
TEST(Repetitions, FillMillisecondsWithShortMessages) {
  const Repetitions latencyBound = Repetitions::of(1 << 10, 1e-3, 1e-3);
  EXPECT_EQ(latencyBound.runs, 5);
  EXPECT_EQ(latencyBound.warmUps, 5);
  EXPECT_EQ(Repetitions::of(1 << 10, 1e-9, 1e-9).runs, 50);
}

// Where a burst made the fastest time, as many messages as it may have held go ahead.
TEST(Repetitions, WarmUpsFollowTheFastestTime) {
  const Repetitions bursting = Repetitions::of(64 << 10, 70e-6, 2.8e-3);
  EXPECT_EQ(bursting.runs, 2);
  EXPECT_EQ(bursting.warmUps, 32);
}

TEST(Repetitions, LongMessagesRunOnceBehindOne) {
  const Repetitions once = Repetitions::of(64 << 20, 0.5, 0.6);
  EXPECT_EQ(once.runs, 1);
  EXPECT_EQ(once.warmUps, 1);
}

} // namespace
} // namespace syncline::calibrate
