// Fragments of weights on NCCL's channels: their times, and ranks that are lost meanwhile.
#include "tests/host-cuda/WeightRanks.h"

namespace syncline::hostcuda {
namespace {

using namespace std::chrono_literals;
using Plan = run::PlanConsistency;

Plan streaming() {
  Plan plan = planOf(Plan::Form::diloco, 4, 1, 2);
  plan.rate = 0.75;
  return plan;
}

// A fragment's times count from the start of the step that issued it, however many steps have begun
// since. Rank 1 trains 100 ms longer in that step, from where rank 0 trains in it.
TEST(FormsTimesTest, CountFromTheFragmentsStep) {
  TestMeeting meeting(2);
  std::atomic<bool> isTraining = false;
  runRanks(meeting, [&](int rank) {
    WeightRank own(meeting, rank, streaming());
    for (std::int64_t step = 0; step < 4; ++step) {
      own.hold = [&isTraining, step, rank] {
        if (step != 1)
          return;
        if (rank == 0) {
          isTraining = true;
          return;
        }
        EXPECT_TRUE(test::eventually([&] { return isTraining.load(); }));
        std::this_thread::sleep_for(100ms);
      };
      ASSERT_TRUE(own.step(step).isOk());
      const auto timings = own.own.channel(1).timings();
      ASSERT_EQ(timings.size(), step == 3 ? 1u : 0u);
      if (step < 3)
        continue;
      EXPECT_EQ(timings[0].bucket, core::fragmentMessage(0));
      EXPECT_EQ(timings[0].step, 1);
      EXPECT_GE(timings[0].issued, rank == 1 ? 0.09 : 0.0);
      EXPECT_LE(timings[0].issued, timings[0].started);
      EXPECT_LE(timings[0].started, timings[0].finished);
      EXPECT_GE(timings[0].finished, 0.05); // rank 0 has to wait for rank 1
      EXPECT_GE(own.own.channel(1).exposedSeconds(), 0);
    }
  });
}

// Rank 1 stays away from the fragment that leaves after step 1. Rank 0 goes on until it needs it.
TEST(FormsFailureTest, NamesTheFragmentAndTheLostRank) {
  TestMeeting meeting(2);
  std::atomic<bool> isSent = false, over = false;
  runRanks(meeting, [&](int rank) {
    WeightRank own(meeting, rank, streaming());
    ASSERT_TRUE(own.step(0).isOk());
    if (rank == 1) {
      EXPECT_TRUE(test::eventually([&] { return isSent.load(); }));
      meeting.lose(1);
      EXPECT_TRUE(test::eventually([&] { return over.load(); }));
      return;
    }
    Status s = own.step(1);
    ASSERT_TRUE(s.isOk()) << s.message();
    isSent = true;
    for (std::int64_t step = 2; step < 4 && s; ++step)
      s = own.step(step);
    EXPECT_EQ(s.message(),
              "rank 0: lost rank 1 (its process ended) in the all-reduce of fragment 0 "
              "in step 1; last completed step 0");
    EXPECT_EQ(own.own.channel(1).wait(core::fragmentMessage(0)).message(), s.message());
    over = true;
  });
}

// A channel of buckets says what it did before.
TEST(FormsFailureTest, NamesWhatWasNotIssued) {
  TestMeeting meeting(1);
  runRanks(meeting, [&](int rank) {
    WeightRank own(meeting, rank, streaming());
    own.own.channel(1).startStep(0);
    EXPECT_EQ(own.own.channel(1).wait(core::fragmentMessage(2)).message(),
              "fragment 2 is waited for but was not issued");
  });
}

} // namespace
} // namespace syncline::hostcuda
