// NCCL's channels in a captured step: messages are part of it, and each replay does them again.
#include "tests/host-cuda/TestRanks.h"

#include <algorithm>

namespace syncline::hostcuda {
namespace {

using namespace core;

using Floats = std::vector<float>;

/// A step of several schemes and channels, that adds what ranks find in their own memory now.
struct CapturedStep {
  CapturedStep(TestMeeting &meeting, int rank, WirePrecision wire)
      : own(meeting, rank,
            {{Scheme::ring, 103, 0},
             {Scheme::parameterServer, 77, 1},
             {Scheme::reduceScatter, 50, 0}},
            wire) {
    EXPECT_TRUE(own->setOptimizer({1, 0, 0, false}).isOk());
    const Range part = own.channel().shardOf(own.count(2) * 4, ElementType::f32);
    EXPECT_TRUE(own->takeShard(2, static_cast<std::int64_t>(part.begin),
                               static_cast<std::int64_t>(part.size()))
                    .isOk());
  }

  void tell() {
    for (int bucket = 0; bucket < 3; ++bucket) {
      own.compute(bucket, [this](std::size_t) { return input; });
      EXPECT_TRUE((bucket == 2 ? own.issueSharded(2) : own.issue(bucket)).isOk());
    }
    for (int bucket : {1, 0, 2})
      EXPECT_TRUE(own.wait(bucket).isOk());
    for (int bucket = 0; bucket < 3; ++bucket)
      seen[bucket] = own.look(bucket == 2 ? Space::parameters : Space::gradients, bucket);
  }

  void synchronize() {
    const Status done = own->synchronize();
    ASSERT_TRUE(done.isOk()) << done.message();
  }

  TestRank own;
  float input = 0; ///< of every replay
  std::shared_ptr<Floats> seen[3];
};

class CaptureChannelTest : public testing::TestWithParam<WirePrecision> {};

TEST_P(CaptureChannelTest, ReplaysMessages) {
  const Variable late("SYNCLINE_HOST_CUDA_DELAY", "200");
  TestMeeting meeting(3);
  runRanks(meeting, [&](int rank) {
    CapturedStep step(meeting, rank, GetParam());
    TestRank &own = step.own;
    float weight = 0;
    const auto check = [&](float first) {
      step.synchronize();
      const float sum = 3 * first + 3; // of first, first + 1, first + 2
      weight -= sum / 3;
      EXPECT_EQ(*step.seen[0], Floats(103, sum));
      EXPECT_EQ(*step.seen[1], Floats(77, sum));
      EXPECT_EQ(*step.seen[2], Floats(50, weight));
      const auto timings = own.channel(0).timings();
      ASSERT_EQ(timings.size(), 2u);
      EXPECT_EQ(timings[0].bucket, 0);
      EXPECT_EQ(timings[1].bucket, 2);
      for (const BucketTiming &t : timings) {
        EXPECT_LE(0, t.issued);
        EXPECT_LE(t.issued, t.started);
        EXPECT_LE(t.started, t.finished);
      }
      EXPECT_GE(own.channel(0).exposedSeconds(), 0);
    };
    double loss = 0;
    step.input = static_cast<float>(rank);
    own.begin(0);
    step.tell();
    check(0);
    own.begin(1);
    ASSERT_TRUE(own->beginCapture().isOk());
    step.tell();
    const Status captured = own->endCapture();
    ASSERT_TRUE(captured.isOk()) << captured.message();
    for (int number = 1; number < 9; ++number) {
      step.input = static_cast<float>(rank + number);
      own.begin(number, /*replayed=*/true);
      ASSERT_TRUE(own->replay().isOk());
      check(static_cast<float>(number));
      // Work that is not captured runs between replays. The loss is still on its way when the next
      // replay begins.
      if (number > 1) {
        ASSERT_TRUE(own.channel().wait(-1).isOk());
        EXPECT_EQ(loss, 3);
      }
      loss = rank;
      ASSERT_TRUE(
          own.channel().issue(-1, &loss, sizeof loss, ElementType::f64, Scheme::ring).isOk());
      if (rank == 0) // where the loss has time to go first
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ASSERT_TRUE(own.channel().wait(-1).isOk());
    EXPECT_EQ(loss, 3);
    // A step told anew, and the captured one again.
    step.input = static_cast<float>(rank + 7);
    const auto captures = std::to_array(step.seen);
    own.begin(4);
    step.tell();
    check(7);
    std::copy(captures.begin(), captures.end(), step.seen);
    own.begin(5, true);
    ASSERT_TRUE(own->replay().isOk());
    check(7);
  });
}

INSTANTIATE_TEST_SUITE_P(Wires, CaptureChannelTest,
                         testing::Values(WirePrecision::fp32, WirePrecision::bf16));

/// A step of four micro-batches, whose messages travel in the last one.
struct StepOfMicroBatches {
  StepOfMicroBatches(TestMeeting &meeting, int rank) : step(meeting, rank, WirePrecision::fp32) {
    step.own.begin(0);
    step.tell();
    step.synchronize();
  }

  void tell(StepPart part) {
    ASSERT_EQ(enqueue(step.own.compute(), [this, part] { done.push_back(part); }), cudaSuccess);
    if (part == StepPart::last)
      step.tell();
  }

  /// Replays a micro-batch, which it captures first where it has not yet.
  void replay(StepPart part, std::int64_t number) {
    TestRank &own = step.own;
    own->choosePart(part);
    const auto start = [&](bool replayed) {
      part == StepPart::first ? own.begin(number, replayed) : own.beginPart(replayed);
    };
    if (!own->isCaptured()) {
      start(false);
      ASSERT_TRUE(own->beginCapture().isOk());
      tell(part);
      const Status captured = own->endCapture();
      ASSERT_TRUE(captured.isOk()) << captured.message();
    }
    start(true);
    ASSERT_TRUE(own->replay().isOk());
  }

  static constexpr std::array microBatches{StepPart::first, StepPart::between, StepPart::between,
                                           StepPart::last};
  CapturedStep step;
  std::vector<StepPart> done; ///< what the device has done
};

// Each replay of the last part adds what ranks have now. Times count from the step's start.
TEST(CaptureChannelTest, ReplaysMicroBatchesApart) {
  const Variable late("SYNCLINE_HOST_CUDA_DELAY", "200");
  TestMeeting meeting(2);
  runRanks(meeting, [&](int rank) {
    StepOfMicroBatches microBatches(meeting, rank);
    CapturedStep &step = microBatches.step;
    for (int number = 1; number < 5; ++number) {
      microBatches.done.clear();
      step.input = static_cast<float>(number + 2 * rank);
      for (const StepPart part : StepOfMicroBatches::microBatches) {
        microBatches.replay(part, number);
        step.synchronize();
      }
      EXPECT_TRUE(std::ranges::equal(microBatches.done, StepOfMicroBatches::microBatches));
      EXPECT_EQ(*step.seen[0], Floats(103, static_cast<float>(2 * number + 2)));
      EXPECT_EQ(*step.seen[1], Floats(77, static_cast<float>(2 * number + 2)));
      const auto timings = step.own.channel(0).timings();
      ASSERT_EQ(timings.size(), 2u);
      for (const BucketTiming &t : timings) {
        EXPECT_LT(0, t.issued);
        EXPECT_LE(t.issued, t.started);
        EXPECT_LE(t.started, t.finished);
      }
    }
  });
}

// Rank 1 does not come to the last micro-batch.
TEST(CaptureChannelTest, NamesTheMessageOfALastMicroBatch) {
  TestMeeting meeting(2);
  std::atomic<bool> over = false;
  runRanks(meeting, [&](int rank) {
    StepOfMicroBatches microBatches(meeting, rank);
    for (int number = 1; number < 4; ++number)
      for (const StepPart part : StepOfMicroBatches::microBatches) {
        if (number == 3 && part == StepPart::last)
          meeting.limit(rank, 0.3);
        if (number == 3 && rank == 1 && part == StepPart::last)
          break;
        microBatches.replay(part, number);
        const Status done = microBatches.step.own->synchronize();
        if (number < 3 || part != StepPart::last) {
          ASSERT_TRUE(done.isOk()) << done.message();
          continue;
        }
        EXPECT_EQ(done.message(), "rank 0: lost rank 1 (late) in the all-reduce of bucket 0 in "
                                  "step 3; last completed step 2");
      }
    over = over || rank == 0;
    EXPECT_TRUE(test::eventually([&] { return over.load(); }));
  });
}

// Rank 1 replays once less: the other one names the first message that did not come.
TEST(CaptureChannelTest, NamesTheMessageOfAReplay) {
  TestMeeting meeting(2);
  std::atomic<bool> over = false;
  runRanks(meeting, [&](int rank) {
    CapturedStep step(meeting, rank, WirePrecision::fp32);
    TestRank &own = step.own;
    own.begin(0);
    step.tell();
    step.synchronize();
    own.begin(1);
    ASSERT_TRUE(own->beginCapture().isOk());
    step.tell();
    ASSERT_TRUE(own->endCapture().isOk());
    own.begin(1, true);
    ASSERT_TRUE(own->replay().isOk());
    step.synchronize();
    meeting.limit(rank, 0.3);
    if (rank == 1) {
      EXPECT_TRUE(test::eventually([&] { return over.load(); }));
      return;
    }
    own.begin(2, true);
    ASSERT_TRUE(own->replay().isOk());
    EXPECT_EQ(own->synchronize().message(),
              "rank 0: lost rank 1 (late) in the all-reduce of bucket "
              "0 in step 2; last completed step 1");
    over = true;
  });
}

} // namespace
} // namespace syncline::hostcuda
