// Who may begin its next step, in virtual time.
#include "runtime/servers/ClockKeeper.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace syncline {
namespace {

using namespace servers;

// The controller of DSSP as the paper lists it: two tables of times to come, and the pair of
// entries that lie closest together; of equal pairs the one with the fewest steps.
std::int64_t transcribed(const PushTimes &fastest, const PushTimes &slowest, int most) {
  std::vector<double> fast, slow;
  for (int i = 0; i <= most; ++i)
    fast.push_back(fastest.last + i * (fastest.last - fastest.before));
  for (int k = 0; k <= most; ++k)
    slow.push_back(slowest.last + (k + 1) * (slowest.last - slowest.before));
  double least = std::abs(slow[0] - fast[0]);
  for (double s : slow)
    for (double f : fast)
      least = std::min(least, std::abs(s - f));
  for (int r = 0; r <= most; ++r)
    for (double s : slow)
      if (std::abs(s - fast[r]) == least)
        return r;
  return -1;
}

// The fast controller finds what the listing finds, in 10,000 random tables of times. Some have
// equal times, or workers of one speed.
TEST(ClockKeeper, ControllerIsThePublishedOne) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 10'000; ++i) {
    const int most = static_cast<int>(random() % 30);
    std::uniform_real_distribution<double> time(0, 1);
    PushTimes fastest, slowest;
    fastest.before = 100 * time(random);
    fastest.last = fastest.before + time(random);
    slowest.last = fastest.last - 3 * time(random);
    slowest.before = slowest.last - std::pow(10, 3 * time(random) - 2);
    if (i % 7 == 0)
      slowest.before = slowest.last;
    if (i % 11 == 0)
      fastest.before = fastest.last;
    if (i % 5 == 0)
      fastest = {std::round(fastest.last), std::round(fastest.last) - 1};
    if (i % 10 == 0)
      slowest = {std::round(slowest.last), std::round(slowest.last) - 2};
    EXPECT_EQ(stepsWithoutWait(fastest, slowest, most), transcribed(fastest, slowest, most))
        << "table " << i;
  }
}

/// Four workers push in virtual time, with speeds that change now and then.
struct Race {
  explicit Race(ClockKeeper keeper, unsigned seed) : keeper(std::move(keeper)), random(seed) {}

  /// Returns the largest lead with which a worker began a step.
  std::int64_t run(int pushes) {
    std::int64_t largest = 0;
    for (int i = 0; i < pushes; ++i) {
      if (i % 1000 == 0)
        for (double &s : speed)
          s = std::exp(std::normal_distribution<double>(0, 1)(random));
      int next = -1;
      for (int w = 0; w < 4; ++w)
        if (!keeper.isHeld(w) && (next < 0 || ends[w] < ends[next]))
          next = w;
      EXPECT_GE(next, 0) << "all are held";
      const double now = ends[next];
      const std::array<bool, 4> before = held();
      keeper.tick(next, ++clock[next], now);
      for (int w = 0; w < 4; ++w)
        if (!keeper.isHeld(w) && (w == next || before[w])) {
          largest = std::max(largest, keeper.lead(w));
          ends[w] = now + speed[w] * std::exponential_distribution<double>(1)(random);
        }
    }
    return largest;
  }

  std::array<bool, 4> held() const {
    return {keeper.isHeld(0), keeper.isHeld(1), keeper.isHeld(2), keeper.isHeld(3)};
  }

  ClockKeeper keeper;
  std::mt19937_64 random;
  std::array<double, 4> ends{}, speed{1, 1, 1, 1};
  std::array<std::int64_t, 4> clock{};
};

constexpr int manyPushes = 100'000;

// No worker of SSP ever begins a step with a larger lead than stated, and the bound is reached.
TEST(ClockKeeper, SspKeepsItsBound) {
  for (std::int64_t staleness : {0, 1, 3})
    EXPECT_EQ(Race(ClockKeeper(Bounds::ssp(staleness), 4), 1).run(manyPushes), staleness);
}

// No lead of DSSP exceeds the upper bound, and it makes use of what lies above the lower one.
TEST(ClockKeeper, DsspKeepsItsBound) {
  for (const Bounds &bounds : {Bounds::dssp(3, 15), Bounds::dssp(0, 4), Bounds::dssp(2, 3)})
    for (unsigned seed = 0; seed < 3; ++seed)
      EXPECT_EQ(Race(ClockKeeper(bounds, 4), seed).run(manyPushes), bounds.upper);
}

// As published, where the step at the grant is not counted, a lead comes to one step more.
TEST(ClockKeeper, PublishedListingExceedsItsBound) {
  const Bounds bounds = Bounds::dssp(3, 15);
  EXPECT_EQ(Race(ClockKeeper(bounds, 4, /*countsGrant=*/false), 0).run(manyPushes),
            bounds.upper + 1);
}

// With equal bounds DSSP is SSP.
TEST(ClockKeeper, DsspWithEqualBoundsIsSsp) {
  Race dssp(ClockKeeper(Bounds::dssp(3, 3), 4), 5), ssp(ClockKeeper(Bounds::ssp(3), 4), 5);
  for (int i = 0; i < 100; ++i) {
    dssp.run(50);
    ssp.run(50);
    ASSERT_EQ(dssp.held(), ssp.held());
    ASSERT_EQ(dssp.clock, ssp.clock);
  }
}

// Nobody is held without bounds.
TEST(ClockKeeper, AspHoldsNobody) {
  ClockKeeper keeper(Bounds::asp(), 2);
  for (int clock = 1; clock < 1000; ++clock) {
    keeper.tick(0, clock, clock);
    ASSERT_FALSE(keeper.isHeld(0));
  }
  EXPECT_EQ(keeper.lead(0), 999);
}

// DSSP has no times to go by before both workers have pushed twice, and is SSP until then.
TEST(ClockKeeper, DsspNeedsTwoPushes) {
  ClockKeeper keeper(Bounds::dssp(0, 8), 2);
  keeper.tick(0, 1, 1);
  EXPECT_TRUE(keeper.isHeld(0));
  keeper.tick(1, 1, 10);
  keeper.tick(0, 2, 11);
  EXPECT_TRUE(keeper.isHeld(0));
  keeper.tick(1, 2, 20);
  // Pushes of worker 1 at 10 and 20, those of worker 0 at 11 and 21: the next of worker 1 is
  // expected at 30, closest to one more of worker 0 at 31.
  keeper.tick(0, 3, 21);
  EXPECT_FALSE(keeper.isHeld(0));
  keeper.tick(0, 4, 22);
  EXPECT_FALSE(keeper.isHeld(0)) << "now every 1 s: up to 30, 8 steps on";
}

// A worker that leaves holds nobody back.
TEST(ClockKeeper, LeavingReleasesOthers) {
  ClockKeeper keeper(Bounds::ssp(0), 2);
  keeper.tick(0, 1, 0);
  EXPECT_TRUE(keeper.isHeld(0));
  keeper.leave(1);
  EXPECT_FALSE(keeper.isHeld(0));
  EXPECT_EQ(keeper.least(), 1);
}

// Turns go round in the order of the workers, past one that has left.
TEST(ClockKeeper, Turns) {
  ClockKeeper keeper = ClockKeeper::turns(3);
  const auto turn = [&] {
    std::string free;
    for (int w = 0; w < 3; ++w)
      free += keeper.isHeld(w) ? "" : std::to_string(w);
    return free;
  };
  for (int w = 0; w < 3; ++w)
    keeper.tick(w, 0, 0);
  EXPECT_EQ(turn(), "0");
  keeper.tick(0, 1, 1);
  EXPECT_EQ(turn(), "1");
  keeper.tick(1, 1, 2);
  EXPECT_EQ(turn(), "2");
  keeper.leave(0);
  keeper.tick(2, 1, 3);
  EXPECT_EQ(turn(), "01") << "worker 0 has left and is not held";
  keeper.leave(1);
  EXPECT_EQ(turn(), "012");
}

} // namespace
} // namespace syncline
