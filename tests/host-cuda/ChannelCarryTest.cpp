// NCCL's channels where a step waits for the messages of the step before, and then issues the same
// buckets again.
#include "tests/host-cuda/TestRanks.h"

#include <algorithm>

namespace syncline::hostcuda {
namespace {

using namespace core;
using namespace std::chrono_literals;

using Floats = std::vector<float>;

/// Whole numbers, so that sums are exact. They differ by rank, element and step.
float valueOf(int rank, std::size_t i, std::int64_t step) {
  return static_cast<float>((i * 7 + static_cast<std::size_t>(rank * 3 + step * 5)) % 31) - 15;
}

Floats sums(int ranks, std::size_t count, std::int64_t step) {
  Floats all(count);
  for (int rank = 0; rank < ranks; ++rank)
    for (std::size_t i = 0; i < count; ++i)
      all[i] += valueOf(rank, i, step);
  return all;
}

void synchronize(TestRank &rank) {
  const Status done = rank->synchronize();
  ASSERT_TRUE(done.isOk()) << done.message();
}

void sleepOnDevice(TestRank &rank, std::chrono::milliseconds time) {
  ASSERT_EQ(enqueue(rank.compute(), [=] { std::this_thread::sleep_for(time); }), cudaSuccess);
}

void issueLoss(TestRank &rank, double &loss) {
  ASSERT_TRUE(rank.channel().issue(-1, &loss, sizeof loss, ElementType::f64, Scheme::ring).isOk());
}

/// A rank whose steps wait for the messages of the step before. Steps are told, or captured and
/// replayed as the training loop does it.
struct CarryingRank {
  CarryingRank(TestMeeting &meeting, int rank, const std::vector<TestBucket> &buckets, bool replays)
      : own(meeting, rank, buckets, WirePrecision::fp32, 0, /*carries=*/true), replays(replays) {}

  void receive(std::vector<std::shared_ptr<Floats>> &seen) {
    for (int bucket = 0; bucket < static_cast<int>(own.buckets.size()); ++bucket) {
      EXPECT_TRUE(own.wait(bucket).isOk());
      seen.push_back(own.look(Space::gradients, bucket));
    }
  }

  void tell() {
    found.clear();
    if (isUnderWay)
      receive(found);
    if (delay > 0ms)
      sleepOnDevice(own, delay);
    for (int bucket = 0; bucket < static_cast<int>(own.buckets.size()); ++bucket) {
      own.compute(bucket, [this](std::size_t i) { return valueOf(own.rank, i, number); });
      EXPECT_TRUE(own.issue(bucket).isOk());
    }
  }

  /// Enqueues the next step. A drained step waits for its own messages too.
  void step(bool isDrained = false) {
    ++number;
    drained.clear();
    const bool isReplay = replays && number >= 2 && isUnderWay;
    own.begin(number);
    if (isReplay && !own->isCaptured()) {
      ASSERT_TRUE(own->beginCapture().isOk());
      tell();
      const Status captured = own->endCapture();
      ASSERT_TRUE(captured.isOk()) << captured.message();
      ++captures;
      foundByReplays[number % 2] = found;
    }
    if (isReplay) {
      found = foundByReplays[number % 2];
      own.begin(number, /*replayed=*/true);
      ASSERT_TRUE(own->replay().isOk());
    } else {
      tell();
    }
    if (isDrained)
      receive(drained);
    isUnderWay = !isDrained;
  }

  TestRank own;
  const bool replays;
  std::int64_t number = -1;
  int captures = 0;
  bool isUnderWay = false;
  std::chrono::milliseconds delay{0}; ///< of the computation before the first issue
  /// What the step finds behind its waits, and what it finds when it is drained.
  std::vector<std::shared_ptr<Floats>> found, drained;
  std::vector<std::shared_ptr<Floats>> foundByReplays[2];
};

/// Ranks, the first bucket's scheme, the longest delay of each work in microseconds, and whether
/// steps are captured.
class CarryTest : public testing::TestWithParam<std::tuple<int, Scheme, int, bool>> {};

// Each step finds the sums of the step before, though it overwrites the gradients right behind the
// wait and issues them again. The loss travels in between, and some steps are drained.
TEST_P(CarryTest, FindsTheSumsOfTheStepBefore) {
  const auto [ranks, scheme, delay, replays] = GetParam();
  const Variable late("SYNCLINE_HOST_CUDA_DELAY", std::to_string(delay));
  TestMeeting meeting(ranks);
  runRanks(meeting, [&, scheme = scheme, replays = replays](int rank) {
    CarryingRank carrying(meeting, rank, {{scheme, 1003}, {Scheme::ring, 37}, {Scheme::tree, 5, 1}},
                          replays);
    TestRank &own = carrying.own;
    const auto expectSums = [&](const std::vector<std::shared_ptr<Floats>> &seen,
                                std::int64_t step) {
      ASSERT_EQ(seen.size(), own.buckets.size());
      for (std::size_t i = 0; i < seen.size(); ++i)
        EXPECT_EQ(*seen[i], sums(own.ranks, own.count(static_cast<int>(i)), step)) << i;
    };
    double loss = 0;
    for (std::int64_t step = 0; step < 14; ++step) {
      const bool isDrained = step == 4 || step == 7 || step == 13, waits = carrying.isUnderWay;
      carrying.step(isDrained);
      synchronize(own);
      if (waits)
        expectSums(carrying.found, step - 1);
      if (isDrained)
        expectSums(carrying.drained, step);
      EXPECT_EQ(own.channel().timings().size(), (waits ? 2u : 0u) + (isDrained ? 2u : 0u));
      if (step > 0) {
        ASSERT_TRUE(own.channel().wait(-1).isOk());
        EXPECT_EQ(loss, static_cast<double>(own.ranks * (step - 1)));
      }
      loss = static_cast<double>(step);
      issueLoss(own, loss);
    }
    ASSERT_TRUE(own.channel().wait(-1).isOk());
    EXPECT_EQ(carrying.captures, replays ? 2 : 0);
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, CarryTest,
                         testing::Combine(testing::Values(1, 2, 3),
                                          testing::Values(Scheme::ring, Scheme::parameterServer),
                                          testing::Values(0, 300), testing::Bool()),
                         [](const auto &info) {
                           const bool isRing = std::get<1>(info.param) == Scheme::ring;
                           return std::to_string(std::get<0>(info.param)) +
                                  (isRing ? "ring" : "servers") +
                                  (std::get<2>(info.param) ? "late" : "") +
                                  (std::get<3>(info.param) ? "replayed" : "");
                         });

// The parameters that a step finds behind the wait are those that the message of the step before
// has updated.
TEST(CarryChannelTest, UpdatesOnTheWay) {
  const Variable late("SYNCLINE_HOST_CUDA_DELAY", "300");
  TestMeeting meeting(2);
  runRanks(meeting, [&](int rank) {
    TestRank own(meeting, rank, {{Scheme::reduceScatter, 50}}, WirePrecision::fp32, 0, true);
    ASSERT_TRUE(own->setOptimizer({1, 0, 0, false}).isOk());
    const Range part = own.channel().shardOf(own.count(0) * 4, ElementType::f32);
    ASSERT_TRUE(own->takeShard(0, static_cast<std::int64_t>(part.begin),
                               static_cast<std::int64_t>(part.size()))
                    .isOk());
    Floats weights(50);
    for (std::int64_t step = 0; step < 5; ++step) {
      own.begin(step);
      std::shared_ptr<Floats> seen;
      if (step > 0) {
        ASSERT_TRUE(own.wait(0).isOk());
        seen = own.look(Space::parameters, 0);
      }
      own.compute(0, [=](std::size_t i) { return valueOf(rank, i, step); });
      ASSERT_TRUE(own.issueSharded(0).isOk());
      synchronize(own);
      if (step == 0)
        continue;
      const Floats sum = sums(2, 50, step - 1);
      for (std::size_t i = 0; i < sum.size(); ++i)
        weights[i] -= sum[i] / 2;
      EXPECT_EQ(*seen, weights) << step;
    }
    ASSERT_TRUE(own.wait(0).isOk());
    synchronize(own);
  });
}

class CarryTimesTest : public testing::TestWithParam<bool> {}; ///< whether steps are captured

// A step's timings are of the messages that it has waited for, from the start of the step that
// issued them, while the next messages of the same buckets are under way. Rank 1 issues 100 ms
// late, times the scale, which rank 0 waits for in its next step. Returns whether the times are
// those of an idle machine.
bool measures(int scale, bool replays) {
  TestMeeting meeting(2);
  std::atomic<bool> areRight = true;
  const auto expect = [&](bool isRight) { areRight = areRight && isRight; };
  runRanks(meeting, [&](int rank) {
    CarryingRank carrying(meeting, rank, {{Scheme::ring, 10}, {Scheme::ring, 10}}, replays);
    TestRank &own = carrying.own;
    carrying.delay = rank == 1 ? scale * 100ms : 0ms;
    for (std::int64_t step = 0; step < 7; ++step) {
      const auto start = std::chrono::steady_clock::now();
      carrying.step();
      synchronize(own);
      const auto timings = own.channel().timings();
      const double exposed = own.channel().exposedSeconds();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      ASSERT_EQ(timings.size(), step > 0 ? 2u : 0u);
      EXPECT_LE(exposed, took.count());
      if (step == 0 && rank == 0) {
        expect(took.count() <= scale * 0.08); // the messages outlive the step
      }
      for (const BucketTiming &t : timings) {
        EXPECT_EQ(t.step, step - 1);
        EXPECT_LE(0, t.issued);
        EXPECT_LE(t.issued, t.started);
        EXPECT_LE(t.started, t.finished);
        EXPECT_GE(t.issued, rank == 1 ? scale * 0.09 : 0);
        // Rank 0 begins each step but the first about 100 ms before rank 1 does.
        expect(t.finished >= scale * (rank == 0 && step >= 2 ? 0.15 : 0.05));
      }
      const bool waits = step > 0 && rank == 0;
      expect(waits ? exposed >= scale * 0.05 : exposed <= scale * 0.05);
    }
    carrying.step(/*isDrained=*/true);
    synchronize(own);
    const auto timings = own.channel().timings();
    ASSERT_EQ(timings.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_EQ(timings[i].step, i < 2 ? 6 : 7);
  });
  return areRight;
}

TEST_P(CarryTimesTest, AreOfMessagesOfTheStepBefore) {
  EXPECT_TRUE(test::atSomeScale([](int scale) { return measures(scale, GetParam()); }));
}

INSTANTIATE_TEST_SUITE_P(Steps, CarryTimesTest, testing::Bool(), [](const auto &info) {
  return std::string(info.param ? "replayed" : "told");
});

// Graphs of computation and of messages could not wait for each other in turn.
TEST(CarryChannelTest, CapturesNoWaitForAMessageOfItsOwnStep) {
  TestMeeting meeting(1);
  runRanks(meeting, [&](int rank) {
    TestRank own(meeting, rank, {{Scheme::ring, 10}}, WirePrecision::fp32, 0, /*carries=*/true);
    own.begin(0);
    ASSERT_TRUE(own->beginCapture().isOk());
    ASSERT_TRUE(own.issue(0).isOk());
    EXPECT_EQ(
        own.wait(0).message(),
        "the all-reduce of bucket 0: a step whose messages outlive it can be captured only if "
        "it waits for no message of its own");
    EXPECT_TRUE(own->endCapture().isOk());
  });
}

/// The error of rank 0 in a run of two ranks, where rank 1 takes part in all steps before
/// `lost`, in `issued` messages of that step, and in its loss or not. Rank 0 meets the error in the
/// next step. What rank 1 has issued has 300 ms to arrive, times the scale.
std::string lostAfter(std::int64_t lost, int issued, bool sendsLoss, bool replays,
                      const std::vector<TestBucket> &buckets, int scale) {
  TestMeeting meeting(2);
  std::atomic<bool> over = false;
  std::string said;
  runRanks(meeting, [&](int rank) {
    CarryingRank carrying(meeting, rank, buckets, replays);
    TestRank &own = carrying.own;
    double loss = 0;
    for (std::int64_t step = 0; step < lost || (step == lost && rank == 0); ++step) {
      carrying.step();
      synchronize(own);
      if (step > 0) {
        ASSERT_TRUE(own.channel().wait(-1).isOk());
      }
      if (step < lost || sendsLoss || rank == 0)
        issueLoss(own, loss);
    }
    if (rank == 0) {
      carrying.step();
      said = own->synchronize().message();
      over = true;
      return;
    }
    own.begin(lost);
    for (int bucket = 0; bucket < issued; ++bucket) {
      EXPECT_TRUE(own.wait(bucket).isOk());
      EXPECT_TRUE(own.issue(bucket).isOk());
    }
    synchronize(own);
    ASSERT_TRUE(own.channel().wait(-1).isOk());
    if (sendsLoss)
      issueLoss(own, loss);
    std::this_thread::sleep_for(scale * 300ms);
    meeting.lose(1);
    EXPECT_TRUE(test::eventually([&] { return over.load(); }));
  });
  return said;
}

std::string lostIn(int bucket, int step) {
  return "rank 0: lost rank 1 (its process ended) in the all-reduce of bucket " +
         std::to_string(bucket) + " in step " + std::to_string(step) + "; last completed step " +
         std::to_string(step - 1);
}

/// Expects the error of lostAfter() to be that of a bucket in the step `lost`.
void expectLost(int bucket, int lost, int issued, bool sendsLoss, bool replays,
                const std::vector<TestBucket> &buckets) {
  std::string said;
  EXPECT_TRUE(test::atSomeScale([&](int scale) {
    said = lostAfter(lost, issued, sendsLoss, replays, buckets, scale);
    return said == lostIn(bucket, lost);
  })) << said;
}

// A lost rank is named with the message that did not come, and with the step that issued it. The
// loss, which is under way too, was issued later.
TEST(CarryChannelTest, NamesTheMessageOfTheStepBefore) {
  const std::vector<TestBucket> buckets{{Scheme::ring, 100}, {Scheme::ring, 100}};
  for (bool replays : {false, true})
    for (int step : {1, 4}) {
      expectLost(0, step, 0, false, replays, buckets);
      expectLost(1, step, 1, false, replays, buckets);
    }
}

// The second channel's message of the step before comes before the first channel's loss and before
// its message of this step.
TEST(CarryChannelTest, NamesTheEarliestMessageOfAllChannels) {
  const std::vector<TestBucket> buckets{{Scheme::ring, 100, 0}, {Scheme::ring, 100, 1}};
  expectLost(1, 1, 1, false, false, buckets);
  expectLost(1, 1, 1, true, false, buckets);
  expectLost(1, 4, 1, true, true, buckets);
}

} // namespace
} // namespace syncline::hostcuda
