// A channel's other jobs: all-gathers and sharded updates, alone and between all-reduces, and what
// happens when a rank does not take part.
#include "Messages.h"
#include "Ranks.h"

#include "runtime/transport/CommunicationThread.h"

#include <array>
#include <atomic>

namespace syncline {
namespace {

using namespace transport;
using namespace syncline::testing;

const std::vector<Scheme> everyJob{Scheme::factors, Scheme::reduceScatter, Scheme::ring,
                                   Scheme::halvingDoubling};

Status noUpdate(int, const core::SumOverRanks &) { return Status::ok(); }

std::unique_ptr<CommunicationThread>
open(Group &group, const CommunicationThread::UpdateShard &updateShard = noUpdate) {
  return std::move(*CommunicationThread::create(*group.transport(), 0, everyJob, {}, updateShard));
}

class ChannelJobs : public ::testing::TestWithParam<int> {};

// All-gathers, sharded updates, all-reduces and the loss keep apart in one channel, step by step.
TEST_P(ChannelJobs, Mix) {
  const int ranks = GetParam();
  runRanks(ranks, [&](int rank, Group &group) {
    std::vector<float> weights(5001, 100), gradients(weights.size());
    core::Range own;
    auto channel = open(group, [&](int bucket, const core::SumOverRanks &) {
      EXPECT_EQ(bucket, 1);
      for (std::size_t i = own.begin / 4; i < own.end / 4; ++i)
        weights[i] -= gradients[i];
      return Status::ok();
    });
    own = channel->shardOf(weights.size() * 4, ElementType::f32);
    const float ranksSum = static_cast<float>(ranks * (ranks - 1) / 2);
    for (int step = 0; step < 5; ++step) {
      channel->startStep(step);
      std::vector<std::int64_t> few(static_cast<std::size_t>(ranks), -1);
      std::vector<std::int64_t> many(static_cast<std::size_t>(ranks) * 9000, -1);
      few[static_cast<std::size_t>(rank)] = 10 * step + rank;
      std::fill_n(many.begin() + rank * 9000, 9000, 1000 * step + rank);
      EXPECT_TRUE(channel->issueGather(0, {{few.data(), 8}, {many.data(), 72000}}).isOk());
      std::fill(gradients.begin(), gradients.end(), static_cast<float>(rank + step));
      EXPECT_TRUE(channel
                      ->issueSharded(1, {gradients.data(), weights.data(), weights.size() * 4,
                                         ElementType::f32})
                      .isOk());
      std::vector<float> sum(70000, 1);
      EXPECT_TRUE(
          channel->issue(2, sum.data(), sum.size() * 4, ElementType::f32, Scheme::ring).isOk());
      double loss = rank;
      EXPECT_TRUE(channel->issue(-1, &loss, sizeof loss, ElementType::f64).isOk());
      for (int bucket : {0, 1, 2, -1}) {
        const Status s = channel->wait(bucket);
        ASSERT_TRUE(s.isOk()) << s.message();
      }
      for (int r = 0; r < ranks; ++r) {
        ASSERT_EQ(few[static_cast<std::size_t>(r)], 10 * step + r);
        ASSERT_EQ(many[static_cast<std::size_t>(r) * 9000 + 8999], 1000 * step + r);
      }
      const float sums = static_cast<float>((step + 1) * ranksSum) + // Σ over steps 0..step
                         static_cast<float>(ranks * step * (step + 1) / 2);
      ASSERT_EQ(weights, std::vector<float>(weights.size(), 100 - sums));
      ASSERT_EQ(sum.back(), static_cast<float>(ranks));
      ASSERT_EQ(loss, ranksSum);
    }
  });
}

// Whoever wants to see the gradients gets all sums, not only those of its part.
TEST_P(ChannelJobs, WholeGradients) {
  const int ranks = GetParam();
  runRanks(ranks, [&](int rank, Group &group) {
    auto channel = open(group);
    std::vector<float> weights(1000), gradients(1000, static_cast<float>(rank + 1));
    EXPECT_TRUE(channel
                    ->issueSharded(0, {gradients.data(), weights.data(), 4000, ElementType::f32,
                                       /*wholeGradients=*/true})
                    .isOk());
    ASSERT_TRUE(channel->wait(0).isOk());
    EXPECT_EQ(gradients, std::vector<float>(1000, static_cast<float>(ranks * (ranks + 1) / 2)));
  });
}
// A sharded bucket in halves leaves the parameters that it leaves as one job, with other messages
// between its halves; one wait is for both, and each has its times.
TEST_P(ChannelJobs, Halves) {
  const int ranks = GetParam();
  runRanks(ranks, [&](int rank, Group &group) {
    std::vector<float> weights(1001, 100), gradients(weights.size(), static_cast<float>(rank));
    core::Range own;
    auto channel = open(group, [&](int, const core::SumOverRanks &) {
      for (std::size_t i = own.begin / 4; i < own.end / 4; ++i)
        weights[i] -= gradients[i];
      return Status::ok();
    });
    own = channel->shardOf(weights.size() * 4, ElementType::f32);
    core::ShardedBucket bucket{gradients.data(), weights.data(), weights.size() * 4,
                               ElementType::f32};
    channel->startStep(3);
    bucket.half = core::Half::first;
    EXPECT_TRUE(channel->issueSharded(1, bucket).isOk());
    std::vector<float> sum(100, 1);
    EXPECT_TRUE(channel->issue(2, sum.data(), 400, ElementType::f32, Scheme::ring).isOk());
    ASSERT_TRUE(channel->wait(2).isOk());
    bucket.half = core::Half::second;
    EXPECT_TRUE(channel->issueSharded(1, bucket).isOk());
    ASSERT_TRUE(channel->wait(1).isOk());
    const auto total = static_cast<float>(ranks * (ranks - 1) / 2);
    EXPECT_EQ(weights, std::vector<float>(weights.size(), 100 - total));
    const std::vector<core::BucketTiming> timings = channel->timings();
    ASSERT_EQ(timings.size(), 3u);
    EXPECT_EQ(timings[1].half, core::Half::first);
    EXPECT_EQ(timings[2].half, core::Half::second);
    EXPECT_LE(timings[1].finished, timings[0].started);
    EXPECT_LE(timings[0].finished, timings[2].started);
    EXPECT_EQ(channel->wait(1).kind(), ErrorKind::internal); // nothing is left
  });
}
// Sums in halves are those of whole messages, with other messages between their halves; one wait is
// for both.
TEST_P(ChannelJobs, HalvesOfSums) {
  const int ranks = GetParam();
  runRanks(ranks, [&](int rank, Group &group) {
    auto channel = open(group);
    channel->startStep(3);
    const std::array schemes{Scheme::ring, Scheme::halvingDoubling};
    std::vector<float> own(70'001);
    for (std::size_t i = 0; i < own.size(); ++i)
      own[i] = 1.0f / static_cast<float>(rank + 1 + static_cast<int>(i % 97));
    std::vector<std::vector<float>> whole{own, own}, halves = whole;
    const auto issue = [&](int b, core::Half half) {
      EXPECT_TRUE(
          channel
              ->issueHalf(b, halves[b].data(), own.size() * 4, ElementType::f32, schemes[b], half)
              .isOk());
    };
    for (int b : {0, 1})
      issue(b, core::Half::first);
    for (int b : {0, 1})
      EXPECT_TRUE(
          channel->issue(b + 2, whole[b].data(), own.size() * 4, ElementType::f32, schemes[b])
              .isOk());
    for (int b : {1, 0})
      issue(b, core::Half::second);
    for (int bucket : {2, 3, 0, 1}) {
      const Status s = channel->wait(bucket);
      ASSERT_TRUE(s.isOk()) << s.message();
    }
    EXPECT_EQ(halves, whole);
    const std::vector<core::BucketTiming> timings = channel->timings();
    ASSERT_EQ(timings.size(), 6u);
    EXPECT_EQ(timings[2].half, core::Half::first);
    EXPECT_EQ(timings[3].half, core::Half::second);
  });
}
// A channel without the scheme says so when it is waited for.
TEST_P(ChannelJobs, HalvesNeedTheirScheme) {
  runRanks(GetParam(), [&](int, Group &group) {
    auto channel = open(group);
    float x = 1;
    EXPECT_TRUE(
        channel->issueHalf(0, &x, 4, ElementType::f32, Scheme::tree, core::Half::first).isOk());
    EXPECT_EQ(channel->wait(0).message(), "bucket 0 has a scheme that its channel does not offer");
  });
}

// What an update sums has come from all ranks before the parameters travel, and other messages of
// the channel keep apart.
TEST_P(ChannelJobs, UpdatesSumNumbers) {
  const int ranks = GetParam();
  runRanks(ranks, [&](int rank, Group &group) {
    std::vector<float> weights(1001, 100), gradients(weights.size(), 0);
    core::Range own;
    auto channel = open(group, [&](int, const core::SumOverRanks &sum) {
      std::array<double, 3> numbers{1.0 / 3, static_cast<double>(rank), 0.25};
      const Status s = sum(numbers);
      EXPECT_NEAR(numbers[0], ranks / 3.0, 1e-15);
      EXPECT_EQ(numbers[1], ranks * (ranks - 1) / 2);
      for (std::size_t i = own.begin / 4; i < own.end / 4; ++i)
        weights[i] -= static_cast<float>(numbers[2]);
      return s;
    });
    own = channel->shardOf(weights.size() * 4, ElementType::f32);
    channel->startStep(0);
    for (int bucket : {0, 1})
      EXPECT_TRUE(channel
                      ->issueSharded(bucket, {gradients.data(), weights.data(), weights.size() * 4,
                                              ElementType::f32})
                      .isOk());
    std::vector<float> one(100, 1);
    EXPECT_TRUE(channel->issue(2, one.data(), 400, ElementType::f32, Scheme::ring).isOk());
    for (int bucket : {0, 1, 2})
      ASSERT_TRUE(channel->wait(bucket).isOk());
    EXPECT_EQ(weights, std::vector<float>(weights.size(), 100 - 0.5f * static_cast<float>(ranks)));
    EXPECT_EQ(one, std::vector<float>(one.size(), static_cast<float>(ranks)));
  });
}
INSTANTIATE_TEST_SUITE_P(Ranks, ChannelJobs, ::testing::Range(1, 6));

// An update that fails is the bucket's error, as it is.
TEST(ChannelJob, UpdateFails) {
  runRanks(1, [](int, Group &group) {
    auto channel =
        open(group, [](int, const core::SumOverRanks &) { return Status::badInput("no good"); });
    float gradient = 1, weight = 1;
    EXPECT_TRUE(channel->issueSharded(0, {&gradient, &weight, 4, ElementType::f32}).isOk());
    const Status s = channel->wait(0);
    EXPECT_EQ(s.kind(), ErrorKind::badInput);
    EXPECT_EQ(s.message(), "no good");
  });
}

// A channel that was not opened for these jobs says so.
TEST(ChannelJob, NotOffered) {
  runRanks(1, [](int, Group &group) {
    auto channel = std::move(*CommunicationThread::create(*group.transport(), 0, {Scheme::tree}));
    float x = 1;
    EXPECT_TRUE(channel->issueGather(0, {{&x, 4}}).isOk());
    EXPECT_EQ(channel->wait(0).kind(), ErrorKind::internal);
    EXPECT_TRUE(channel->issueSharded(1, {&x, &x, 4, ElementType::f32}).isOk());
    EXPECT_EQ(channel->wait(1).kind(), ErrorKind::internal);
  });
}

/// Rank 1 of three takes no part in the job that `issue` queues as bucket 4 of step 7; the others
/// name it after the time limit, and the job.
void expectLostPeerNamed(const std::function<void(CommunicationThread &)> &issue,
                         const std::string &job) {
  std::atomic<int> done = 0;
  runRanks(
      3,
      [&](int rank, Group &group) {
        ASSERT_TRUE(group.connect(1).isOk());
        auto channel = open(group);
        channel->startStep(7);
        if (rank == 1) {
          EXPECT_TRUE(test::eventually([&] { return done == 2; }));
          return;
        }
        issue(*channel);
        const Status s = channel->wait(4);
        EXPECT_EQ(s.kind(), ErrorKind::peerLost);
        EXPECT_NE(s.message().find("lost rank 1 "), std::string::npos) << s.message();
        EXPECT_NE(
            s.message().find("in the " + job + " of bucket 4 in step 7; last completed step 6"),
            std::string::npos)
            << s.message();
        ++done;
      },
      /*connect=*/false, /*leave=*/false);
}

// Whoever stays away from an all-gather is named, short and long messages alike.
TEST(ChannelJob, LostInAllGather) {
  for (std::int64_t bytes : {std::int64_t{8}, std::int64_t{1} << 20}) {
    std::vector<std::vector<std::byte>> memory(3, std::vector<std::byte>(6 * bytes));
    std::atomic<std::size_t> next = 0;
    expectLostPeerNamed(
        [&](CommunicationThread &channel) {
          std::byte *own = memory[next++].data();
          EXPECT_TRUE(channel.issueGather(4, {{own, bytes}, {own + 3 * bytes, bytes}}).isOk());
        },
        "all-gather");
  }
}

// Whoever stays away from a sharded update is named.
TEST(ChannelJob, LostInReduceScatter) {
  std::vector<std::vector<float>> memory(3, std::vector<float>(600000));
  std::atomic<std::size_t> next = 0;
  expectLostPeerNamed(
      [&](CommunicationThread &channel) {
        float *own = memory[next++].data();
        EXPECT_TRUE(channel.issueSharded(4, {own, own + 300000, 1200000, ElementType::f32}).isOk());
      },
      "reduce-scatter");
}

// Whoever stays away from a second half is named, and the half.
TEST(ChannelJob, LostInSecondHalf) {
  std::vector<std::vector<float>> memory(3, std::vector<float>(600000));
  std::atomic<std::size_t> next = 0;
  expectLostPeerNamed(
      [&](CommunicationThread &channel) {
        float *own = memory[next++].data();
        EXPECT_TRUE(channel
                        .issueSharded(4, {own, own + 300000, 1200000, ElementType::f32,
                                          /*wholeGradients=*/false, core::Half::second})
                        .isOk());
      },
      "all-gather");
}

} // namespace
} // namespace syncline
