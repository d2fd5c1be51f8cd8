// NCCL's channels where a rank is lost or late: every other rank says so, in one message, and ends.
#include "tests/host-cuda/TestRanks.h"

namespace syncline::hostcuda {
namespace {

using namespace std::chrono_literals;

/// One step of buckets 0 and 1; the first error. `told` is called once both are told, and `came` by
/// the device once the first has come.
Status stepOf(
    TestRank &rank, std::int64_t step, const std::function<void()> &told = [] {},
    const std::function<void()> &came = [] {}) {
  rank.begin(step);
  for (int bucket = 0; bucket < 2; ++bucket)
    if (Status s = rank.issue(bucket); !s)
      return s;
  for (int bucket = 0; bucket < 2; ++bucket) {
    if (Status s = rank.wait(bucket); !s)
      return s;
    if (bucket == 0) {
      EXPECT_EQ(enqueue(rank.compute(), came), cudaSuccess);
    }
  }
  told();
  return rank->synchronize();
}

const std::vector<TestBucket> twoChannels{{Scheme::ring, 100, 0}, {Scheme::ring, 100, 1}};

// Rank 2 computes a step, says that it is done, and stays away: the watch knows.
TEST(ChannelFailureTest, NamesTheLostRankAndTheMessage) {
  TestMeeting meeting(3);
  std::atomic<int> arrived = 0, told = 0, gone = 0;
  runRanks(meeting, [&](int rank) {
    TestRank own(meeting, rank, twoChannels);
    ASSERT_TRUE(stepOf(own, 0).isOk());
    if (rank == 2) {
      own.begin(1);
      ASSERT_TRUE(own.issue(0).isOk()); // the first bucket still arrives
      ASSERT_TRUE(own.wait(0).isOk());
      ASSERT_TRUE(own->synchronize().isOk());
      EXPECT_TRUE(test::eventually([&] { return arrived == 2 && told == 2; }));
      meeting.lose(2);
      EXPECT_TRUE(test::eventually([&] { return gone == 2; }));
      return;
    }
    const Status lost = stepOf(own, 1, [&] { ++told; }, [&] { ++arrived; });
    ASSERT_FALSE(lost.isOk());
    EXPECT_EQ(lost.kind(), ErrorKind::peerLost);
    EXPECT_EQ(lost.message(), "rank " + std::to_string(rank) +
                                  ": lost rank 2 (its process ended) in the all-reduce of bucket 1 "
                                  "in step 1; last completed step 0");
    EXPECT_EQ(own.issue(0).message(), lost.message());
    EXPECT_EQ(own.wait(0).message(), lost.message());
    ++gone;
  });
  EXPECT_EQ(meeting.waits, 0);
}

// Nobody knows of anything, but nothing moves: after the time limit the rank before is asked for.
TEST(ChannelFailureTest, GivesUpAfterTheTimeLimit) {
  TestMeeting meeting(2);
  std::atomic<bool> over = false;
  runRanks(meeting, [&](int rank) {
    TestRank own(meeting, rank, twoChannels);
    ASSERT_TRUE(stepOf(own, 0).isOk());
    meeting.limit(rank, 0.3);
    if (rank == 1) {
      EXPECT_TRUE(test::eventually([&] { return over.load(); }));
      return;
    }
    const auto start = std::chrono::steady_clock::now();
    own.begin(1);
    ASSERT_TRUE(own.issue(0).isOk());
    ASSERT_TRUE(own.wait(0).isOk());
    const Status late = own->synchronize();
    const auto took = std::chrono::steady_clock::now() - start;
    EXPECT_EQ(late.message(), "rank 0: lost rank 1 (late) in the all-reduce of bucket 0 in step 1; "
                              "last completed step 0");
    EXPECT_EQ(meeting.blamed, 1);
    EXPECT_GE(took, 300ms);
    over = true;
  });
}

// What takes longer than the limit is no loss while messages come, nor while none is under way. A
// busy machine may take longer than the limit for one of them, but not at each scale.
TEST(ChannelFailureTest, WaitsForWhatMoves) {
  EXPECT_TRUE(test::atSomeScale([](int scale) {
    TestMeeting meeting(2);
    std::atomic<bool> areDone = true;
    runRanks(meeting, [&](int rank) {
      TestRank own(meeting, rank, {{Scheme::ring, 10}, {Scheme::ring, 10}, {Scheme::ring, 10}});
      const auto sleep = [&](std::chrono::milliseconds time) {
        ASSERT_EQ(enqueue(own.compute(), [=] { std::this_thread::sleep_for(scale * time); }),
                  cudaSuccess);
      };
      meeting.limit(rank, 0.6 * scale);
      own.begin(0);
      for (int bucket = 0; bucket < 3; ++bucket) {
        sleep(400ms);
        ASSERT_TRUE(own.issue(bucket).isOk());
      }
      for (int bucket = 0; bucket < 3; ++bucket)
        ASSERT_TRUE(own.wait(bucket).isOk());
      sleep(900ms);
      areDone = own->synchronize().isOk() && areDone;
    });
    return areDone && meeting.blamed == -1;
  }));
}

// Messages of the last step are no loss while a long computation without messages follows it, such
// as an evaluation.
TEST(ChannelFailureTest, WaitsForComputationBehindTheLastStep) {
  TestMeeting meeting(2);
  runRanks(meeting, [&](int rank) {
    TestRank own(meeting, rank, twoChannels);
    ASSERT_TRUE(stepOf(own, 0).isOk());
    meeting.limit(rank, 0.3);
    own->beginStep(1);
    ASSERT_EQ(enqueue(own.compute(), [] { std::this_thread::sleep_for(600ms); }), cudaSuccess);
    const Status done = own->synchronize();
    EXPECT_TRUE(done.isOk()) << done.message();
  });
  EXPECT_EQ(meeting.blamed, -1);
}

// What a step has behind a message that never comes may be more than CUDA holds: the host stops
// telling it, and asks.
TEST(ChannelFailureTest, StopsTellingWhatCannotBegin) {
  TestMeeting meeting(2);
  std::atomic<bool> isIssued = false, over = false;
  runRanks(meeting, [&](int rank) {
    TestRank own(meeting, rank, {{Scheme::ring, 100}}, core::WirePrecision::fp32, 600);
    const auto steps = [&](std::int64_t number) {
      own.begin(number);
      EXPECT_TRUE(own.issue(0).isOk());
      EXPECT_TRUE(own.wait(0).isOk());
      isIssued = number == 1;
      for (int i = 0; i < 600; ++i)
        if (Status s = own->run(i); !s) {
          EXPECT_LT(i, 200);
          return s;
        }
      return own->synchronize();
    };
    ASSERT_TRUE(steps(0).isOk());
    if (rank == 1) {
      EXPECT_TRUE(test::eventually([&] { return isIssued.load(); }));
      std::this_thread::sleep_for(50ms); // mostly until the host stands
      meeting.lose(1);
      EXPECT_TRUE(test::eventually([&] { return over.load(); }));
      return;
    }
    EXPECT_EQ(steps(1).message(), "rank 0: lost rank 1 (its process ended) in the all-reduce of "
                                  "bucket 0 in step 1; last completed step 0");
    over = true;
  });
}

TEST(ChannelFailureTest, NamesTheLoss) {
  TestMeeting meeting(2);
  std::atomic<bool> isIssued = false, over = false;
  runRanks(meeting, [&](int rank) {
    TestRank own(meeting, rank, twoChannels);
    ASSERT_TRUE(stepOf(own, 0).isOk());
    if (rank == 1) {
      EXPECT_TRUE(test::eventually([&] { return isIssued.load(); }));
      meeting.lose(1);
      EXPECT_TRUE(test::eventually([&] { return over.load(); }));
      return;
    }
    double loss = 1;
    ASSERT_TRUE(own.channel().issue(-1, &loss, sizeof loss, ElementType::f64, Scheme::ring).isOk());
    isIssued = true;
    EXPECT_EQ(own.channel().wait(-1).message(),
              "rank 0: lost rank 1 (its process ended) in the all-reduce of the loss in step 0; no "
              "step completed");
    over = true;
  });
}

// The last of three ranks never comes. The others hear of it while they connect.
TEST(ChannelFailureTest, EndsWhileOthersConnect) {
  TestMeeting meeting(3);
  std::atomic<int> ended = 0;
  runRanks(meeting, [&](int rank) {
    if (rank == 2) {
      meeting.exchange(rank, "nccl/0", "");
      std::this_thread::sleep_for(50ms); // mostly while they connect
      meeting.lose(2);
      return;
    }
    TestPeers peers(meeting, rank);
    core::ExecutableOptions options;
    options.device = rank;
    cuda::CudaExecutable executable(options);
    const auto opened =
        cuda::NcclChannel::open(executable, std::make_shared<cuda::NcclLinks>(executable, peers),
                                peers, {.channel = 0, .schemes = {Scheme::ring}});
    ASSERT_FALSE(opened.isOk());
    EXPECT_EQ(opened.status().kind(), ErrorKind::peerLost);
    EXPECT_EQ(opened.status().message(),
              "rank " + std::to_string(rank) +
                  ": lost rank 2 (its process ended) as channel 0 was opened");
    ++ended;
  });
  EXPECT_EQ(ended, 2);
}

// An error of another kind ends a run with messages under way: nobody waits for them.
TEST(ChannelFailureTest, LeavesWithMessagesUnderWay) {
  TestMeeting meeting(2);
  const core::Deadline end = core::deadlineIn(test::patience);
  runRanks(meeting, [&](int rank) {
    TestRank own(meeting, rank, twoChannels);
    ASSERT_TRUE(stepOf(own, 0).isOk());
    meeting.limit(rank, 10 * test::patience);
    own.begin(1);
    if (rank == 0)
      for (int bucket = 0; bucket < 2; ++bucket) {
        ASSERT_TRUE(own.issue(bucket).isOk());
        ASSERT_TRUE(own.wait(bucket).isOk());
      }
    std::this_thread::sleep_for(20ms); // mostly until they are under way
  });
  EXPECT_LT(core::Clock::now(), end);
}

} // namespace
} // namespace syncline::hostcuda
