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

/// Ranks, the first bucket's scheme, the longest delay of each work in microseconds.
class CarryTest : public testing::TestWithParam<std::tuple<int, Scheme, int>> {};

// Each step finds the sums of the step before, though it overwrites the gradients right behind the
// wait and issues them again. The loss travels in between, and every third step is drained.
TEST_P(CarryTest, FindsTheSumsOfTheStepBefore) {
  const auto [ranks, scheme, delay] = GetParam();
  const Variable late("SYNCLINE_HOST_CUDA_DELAY", std::to_string(delay));
  TestMeeting meeting(ranks);
  runRanks(meeting, [&, scheme = scheme](int rank) {
    TestRank own(meeting, rank, {{scheme, 1003}, {Scheme::ring, 37}, {Scheme::tree, 5, 1}});
    double loss = 0;
    bool isUnderWay = false;
    for (std::int64_t step = 0; step < 9; ++step) {
      std::vector<std::pair<std::int64_t, std::shared_ptr<Floats>>> seen; // with the step's number
      const auto receive = [&](std::int64_t of) {
        for (int bucket = 0; bucket < 3; ++bucket) {
          ASSERT_TRUE(own.wait(bucket).isOk());
          seen.emplace_back(of, own.look(Space::gradients, bucket));
        }
      };
      own.begin(step);
      if (isUnderWay)
        receive(step - 1);
      for (int bucket = 0; bucket < 3; ++bucket) {
        own.compute(bucket, [=](std::size_t i) { return valueOf(rank, i, step); });
        ASSERT_TRUE(own.issue(bucket).isOk());
      }
      isUnderWay = step % 3 != 2;
      if (!isUnderWay)
        receive(step);
      synchronize(own);
      for (std::size_t i = 0; i < seen.size(); ++i)
        EXPECT_EQ(*seen[i].second,
                  sums(own.ranks, own.count(static_cast<int>(i % 3)), seen[i].first));
      if (step > 0) {
        ASSERT_TRUE(own.channel().wait(-1).isOk());
        EXPECT_EQ(loss, static_cast<double>(own.ranks * (step - 1)));
      }
      loss = static_cast<double>(step);
      issueLoss(own, loss);
    }
    ASSERT_TRUE(own.channel().wait(-1).isOk());
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, CarryTest,
                         testing::Combine(testing::Values(1, 2, 3),
                                          testing::Values(Scheme::ring, Scheme::parameterServer),
                                          testing::Values(0, 300)),
                         [](const auto &info) {
                           const bool isRing = std::get<1>(info.param) == Scheme::ring;
                           return std::to_string(std::get<0>(info.param)) +
                                  (isRing ? "ring" : "servers") +
                                  (std::get<2>(info.param) ? "late" : "");
                         });

// The parameters that a step finds behind the wait are those that the message of the step before
// has updated.
TEST(CarryChannelTest, UpdatesOnTheWay) {
  const Variable late("SYNCLINE_HOST_CUDA_DELAY", "300");
  TestMeeting meeting(2);
  runRanks(meeting, [&](int rank) {
    TestRank own(meeting, rank, {{Scheme::reduceScatter, 50}});
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

// A step's timings are of the messages that it has waited for, from the start of the step that
// issued them, while the next messages of the same buckets are under way. Rank 1 issues 200 ms
// late, which rank 0 waits for in its next step.
TEST(CarryChannelTest, TimesMessagesOfTheStepBefore) {
  TestMeeting meeting(2);
  runRanks(meeting, [&](int rank) {
    TestRank own(meeting, rank, {{Scheme::ring, 10}, {Scheme::ring, 10}});
    for (std::int64_t step = 0; step < 3; ++step) {
      own.begin(step);
      const auto start = std::chrono::steady_clock::now();
      for (int bucket = 0; step > 0 && bucket < 2; ++bucket)
        ASSERT_TRUE(own.wait(bucket).isOk());
      if (rank == 1)
        sleepOnDevice(own, 200ms);
      for (int bucket = 0; bucket < 2; ++bucket)
        ASSERT_TRUE(own.issue(bucket).isOk());
      synchronize(own);
      const auto timings = own.channel().timings();
      const double exposed = own.channel().exposedSeconds();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      ASSERT_EQ(timings.size(), step > 0 ? 2u : 0u);
      EXPECT_LE(exposed, took.count());
      for (const BucketTiming &t : timings) {
        EXPECT_EQ(t.step, step - 1);
        EXPECT_LE(0, t.issued);
        EXPECT_LE(t.issued, t.started);
        EXPECT_LE(t.started, t.finished);
        EXPECT_GE(t.issued, rank == 1 ? 0.19 : 0);
        // Rank 0 begins step 1 about 200 ms before rank 1 does.
        EXPECT_GE(t.finished, rank == 0 && step == 2 ? 0.3 : 0.1);
      }
      if (step > 0 && rank == 0) {
        EXPECT_GE(exposed, 0.1);
      } else {
        EXPECT_LE(exposed, 0.1);
      }
    }
    for (int bucket = 0; bucket < 2; ++bucket)
      ASSERT_TRUE(own.wait(bucket).isOk());
    synchronize(own);
  });
}

// A step that is drained has timings of two messages of a bucket.
TEST(CarryChannelTest, TimesBothMessagesOfADrainedStep) {
  TestMeeting meeting(2);
  runRanks(meeting, [&](int rank) {
    TestRank own(meeting, rank, {{Scheme::ring, 10}});
    for (std::int64_t step = 0; step < 2; ++step) {
      own.begin(step);
      if (step > 0) {
        ASSERT_TRUE(own.wait(0).isOk());
      }
      ASSERT_TRUE(own.issue(0).isOk());
      if (step == 0)
        synchronize(own);
    }
    ASSERT_TRUE(own.wait(0).isOk());
    synchronize(own);
    const auto timings = own.channel().timings();
    ASSERT_EQ(timings.size(), 2u);
    EXPECT_EQ(timings[0].step, 0);
    EXPECT_EQ(timings[1].step, 1);
  });
}

/// The error of rank 0 in a run of two ranks, where rank 1 takes part in step 0 and then in
/// `issued` messages of step 1, and in its loss or not. Rank 0 meets the error in step 2.
std::string lostInStepTwo(int issued, bool sendsLoss, const std::vector<TestBucket> &buckets) {
  TestMeeting meeting(2);
  std::atomic<bool> over = false;
  std::string said;
  runRanks(meeting, [&](int rank) {
    TestRank own(meeting, rank, buckets);
    const int count = static_cast<int>(buckets.size());
    double loss = 0;
    const auto enter = [&](std::int64_t step, int messages) {
      own.begin(step);
      for (int bucket = 0; bucket < messages; ++bucket) {
        EXPECT_TRUE(step == 0 || own.wait(bucket).isOk());
        EXPECT_TRUE(own.issue(bucket).isOk());
      }
    };
    enter(0, count);
    synchronize(own);
    issueLoss(own, loss);
    enter(1, rank == 1 ? issued : count);
    synchronize(own);
    ASSERT_TRUE(own.channel().wait(-1).isOk());
    if (rank == 0 || sendsLoss)
      issueLoss(own, loss);
    if (rank == 1) {
      std::this_thread::sleep_for(50ms);
      meeting.lose(1);
      while (!over)
        std::this_thread::sleep_for(1ms);
      return;
    }
    enter(2, count);
    said = own->synchronize().message();
    over = true;
  });
  return said;
}

std::string lostIn(const std::string &bucket) {
  return "rank 0: lost rank 1 (its process ended) in the all-reduce of bucket " + bucket +
         " in step 1; last completed step 0";
}

// A lost rank is named with the message that did not come, and with the step that issued it. The
// loss, which is under way too, was issued later.
TEST(CarryChannelTest, NamesTheMessageOfTheStepBefore) {
  const std::vector<TestBucket> buckets{{Scheme::ring, 100}, {Scheme::ring, 100}};
  EXPECT_EQ(lostInStepTwo(0, false, buckets), lostIn("0"));
  EXPECT_EQ(lostInStepTwo(1, false, buckets), lostIn("1"));
}

// The second channel's message of the step before comes before the first channel's loss and before
// its message of this step.
TEST(CarryChannelTest, NamesTheEarliestMessageOfAllChannels) {
  const std::vector<TestBucket> buckets{{Scheme::ring, 100, 0}, {Scheme::ring, 100, 1}};
  EXPECT_EQ(lostInStepTwo(1, false, buckets), lostIn("1"));
  EXPECT_EQ(lostInStepTwo(1, true, buckets), lostIn("1"));
}

} // namespace
} // namespace syncline::hostcuda
