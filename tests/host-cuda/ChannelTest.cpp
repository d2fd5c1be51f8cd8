// NCCL's channels: what arrives, behind which computation, and when. Streams run by themselves and,
// in half of the tests, late.
#include "tests/host-cuda/TestRanks.h"

#include "runtime/core/HalfFloat.h"

#include <cmath>
#include <numeric>

namespace syncline::hostcuda {
namespace {

using namespace core;

using Floats = std::vector<float>;
using Option = std::tuple<int, Scheme, WirePrecision, int>; ///< ranks, scheme, wire, delay

/// Values whose sums are exact in all types: small whole numbers.
float valueOf(int rank, std::size_t i, std::int64_t step) {
  return static_cast<float>(
             (i * 7 + static_cast<std::size_t>(rank) * 3 + static_cast<std::size_t>(step)) % 31) -
         15;
}

float sumOf(int ranks, std::size_t i, std::int64_t step) {
  float sum = 0;
  for (int r = 0; r < ranks; ++r)
    sum += valueOf(r, i, step);
  return sum;
}

Floats sums(int ranks, std::size_t count, std::int64_t step) {
  Floats all(count);
  for (std::size_t i = 0; i < count; ++i)
    all[i] = sumOf(ranks, i, step);
  return all;
}

class SumTest : public testing::TestWithParam<Option> {};

// Buckets of odd lengths, several under way at once, two steps one behind the other; in the second
// one each bucket is two messages, where its scheme has halves.
TEST_P(SumTest, SumsInPlaceBehindComputation) {
  const auto [ranks, scheme, wire, delay] = GetParam();
  const Variable late("SYNCLINE_HOST_CUDA_DELAY", std::to_string(delay));
  TestMeeting meeting(ranks);
  runRanks(meeting, [&, scheme = scheme, wire = wire](int rank) {
    TestRank own(meeting, rank, {{scheme, 1003}, {scheme, 1}, {scheme, 37}, {scheme, 256}}, wire);
    for (std::int64_t step = 0; step < 2; ++step) {
      own.begin(step);
      std::vector<std::shared_ptr<Floats>> seen;
      const bool isHalved =
          step > 0 && scheme != Scheme::parameterServer && scheme != Scheme::library;
      for (int bucket = 0; bucket < 4; ++bucket) {
        own.compute(bucket, [=](std::size_t i) { return valueOf(rank, i, step); });
        ASSERT_TRUE(own.issue(bucket, isHalved ? Half::first : Half::whole).isOk());
      }
      for (int bucket : {3, 1, 0, 2})
        if (isHalved) {
          ASSERT_TRUE(own.issue(bucket, Half::second).isOk());
        }
      for (int bucket = 0; bucket < 4; ++bucket) {
        ASSERT_TRUE(own.wait(bucket).isOk());
        seen.push_back(own.look(Space::gradients, bucket));
      }
      const Status done = own->synchronize();
      ASSERT_TRUE(done.isOk()) << done.message();
      EXPECT_EQ(own.channel().timings().size(), isHalved ? 8u : 4u);
      for (int bucket = 0; bucket < 4; ++bucket)
        EXPECT_EQ(*seen[static_cast<std::size_t>(bucket)],
                  sums(own.ranks, own.count(bucket), step));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, SumTest,
                         testing::Combine(testing::Values(1, 2, 3, 4),
                                          testing::Values(Scheme::ring, Scheme::tree,
                                                          Scheme::library, Scheme::parameterServer),
                                          testing::Values(WirePrecision::fp32, WirePrecision::bf16,
                                                          WirePrecision::fp16),
                                          testing::Values(0, 300)),
                         [](const auto &info) {
                           std::string scheme(schemeName(std::get<1>(info.param)));
                           std::erase(scheme, '-');
                           return scheme + std::to_string(std::get<0>(info.param)) +
                                  std::string(wireName(std::get<2>(info.param))) +
                                  (std::get<3>(info.param) ? "late" : "");
                         });

// Servers sum halves in f32 in the ranks' order. Halves are rounded on the way, and the sum is
// rounded once more. All ranks have the same bits.
TEST(WireTest, RoundsOnTheWayAndTheSum) {
  for (WirePrecision wire : {WirePrecision::bf16, WirePrecision::fp16}) {
    TestMeeting meeting(3);
    runRanks(meeting, [&](int rank) {
      const auto exact = [](int r, std::size_t i) {
        return std::sin(static_cast<float>(i) + static_cast<float>(r)) * (i == 5 ? 1e-6f : 100);
      };
      const auto rounded = [&](float value) {
        return wire == WirePrecision::bf16 ? core::floatFromBf16(core::bf16FromFloat(value))
                                           : core::floatFromF16(core::f16FromFloat(value));
      };
      TestRank own(meeting, rank, {{Scheme::parameterServer, 100}}, wire);
      own.begin(0);
      own.compute(0, [=](std::size_t i) { return exact(rank, i); });
      ASSERT_TRUE(own.issue(0).isOk());
      ASSERT_TRUE(own.wait(0).isOk());
      const auto seen = own.look(Space::gradients, 0);
      ASSERT_TRUE(own->synchronize().isOk());
      for (std::size_t i = 0; i < 100; ++i)
        EXPECT_EQ((*seen)[i],
                  rounded(rounded(exact(0, i)) + rounded(exact(1, i)) + rounded(exact(2, i))))
            << i;
    });
  }
}

class ShardedTest : public testing::TestWithParam<Option> {};

// Each rank applies SGD to its part; all have all parameters, and whole gradients where asked.
TEST_P(ShardedTest, UpdatesOnTheWay) {
  const auto [ranks, scheme, wire, delay] = GetParam();
  const Variable late("SYNCLINE_HOST_CUDA_DELAY", std::to_string(delay));
  TestMeeting meeting(ranks);
  runRanks(meeting, [&, wire = wire](int rank) {
    TestRank own(meeting, rank, {{Scheme::reduceScatter, 1003}, {Scheme::reduceScatter, 2}}, wire);
    ASSERT_TRUE(own->setOptimizer({0.5, 0.5, 0, false}).isOk());
    std::size_t end = 0;
    for (int bucket = 0; bucket < 2; ++bucket) {
      const Range part = own.channel().shardOf(own.count(bucket) * 4, ElementType::f32);
      ASSERT_TRUE(own->takeShard(bucket, static_cast<std::int64_t>(part.begin),
                                 static_cast<std::int64_t>(part.size()))
                      .isOk());
      end = part.end;
    }
    if (rank == own.ranks - 1) {
      EXPECT_EQ(end, 8u);
    }
    std::vector<Floats> weights{Floats(1003), Floats(2)}, velocity = weights;
    for (std::int64_t step = 0; step < 3; ++step) {
      own.begin(step);
      std::vector<std::shared_ptr<Floats>> parameters, gradients;
      const bool isHalved = step > 0; // later steps send each bucket as two messages
      for (int bucket = 0; bucket < 2; ++bucket) {
        own.compute(bucket, [=](std::size_t i) { return valueOf(rank, i, step); });
        const Half half = isHalved ? Half::first : Half::whole;
        ASSERT_TRUE(own.issueSharded(bucket, step == 1, half).isOk());
      }
      for (int bucket : {1, 0})
        if (isHalved) {
          ASSERT_TRUE(own.issueSharded(bucket, false, Half::second).isOk());
        }
      for (int bucket = 0; bucket < 2; ++bucket) {
        ASSERT_TRUE(own.wait(bucket).isOk());
        parameters.push_back(own.look(Space::parameters, bucket));
        gradients.push_back(own.look(Space::gradients, bucket));
      }
      const Status done = own->synchronize();
      ASSERT_TRUE(done.isOk()) << done.message();
      EXPECT_EQ(own.channel().timings().size(), isHalved ? 4u : 2u);
      for (std::size_t b = 0; b < 2; ++b) {
        const Floats sum = sums(own.ranks, weights[b].size(), step);
        for (std::size_t i = 0; i < sum.size(); ++i) {
          velocity[b][i] = 0.5f * velocity[b][i] + sum[i] / static_cast<float>(own.ranks);
          weights[b][i] -= 0.5f * velocity[b][i];
          EXPECT_NEAR((*parameters[b])[i], weights[b][i], 1e-5) << i;
        }
        if (step == 1) {
          EXPECT_EQ(*gradients[b], sum);
        }
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, ShardedTest,
                         testing::Combine(testing::Values(1, 2, 3, 4),
                                          testing::Values(Scheme::reduceScatter),
                                          testing::Values(WirePrecision::fp32, WirePrecision::bf16),
                                          testing::Values(0, 300)),
                         [](const auto &info) {
                           return std::to_string(std::get<0>(info.param)) +
                                  std::string(wireName(std::get<2>(info.param))) +
                                  (std::get<3>(info.param) ? "late" : "");
                         });

// The loss travels behind the step's buckets and is the host's when wait() returns; the next step
// runs meanwhile.
TEST(ChannelTest, SumsTheLossForTheHost) {
  const Variable late("SYNCLINE_HOST_CUDA_DELAY", "300");
  TestMeeting meeting(3);
  runRanks(meeting, [&](int rank) {
    TestRank own(meeting, rank, {{Scheme::ring, 100}});
    double loss = 0;
    for (std::int64_t step = 0; step < 3; ++step) {
      own.begin(step);
      own.compute(0, [](std::size_t) { return 1.0f; });
      ASSERT_TRUE(own.issue(0).isOk());
      ASSERT_TRUE(own.wait(0).isOk());
      ASSERT_TRUE(own->synchronize().isOk());
      if (step > 0) {
        ASSERT_TRUE(own.channel().wait(-1).isOk());
        EXPECT_EQ(loss, 3 + 30.0 * static_cast<double>(step - 1));
      }
      loss = rank + 10.0 * static_cast<double>(step);
      ASSERT_TRUE(own.channel()
                      .issue(-1, &loss, sizeof loss, ElementType::f64, Scheme::parameterServer)
                      .isOk());
      EXPECT_EQ(own.channel().timings().size(), 1u);
    }
    ASSERT_TRUE(own.channel().wait(-1).isOk());
    EXPECT_EQ(loss, 63);
  });
}

// Two channels' messages do not wait for each other's computation.
TEST(ChannelTest, ChannelsGoTheirOwnWays) {
  TestMeeting meeting(2);
  runRanks(meeting, [&](int rank) {
    TestRank own(meeting, rank, {{Scheme::ring, 100, 0}, {Scheme::tree, 50, 1}});
    own.begin(0);
    own.compute(0, [=](std::size_t) { return static_cast<float>(rank + 1); });
    ASSERT_TRUE(own.issue(0).isOk());
    own.compute(1, [=](std::size_t) { return static_cast<float>(rank + 10); });
    ASSERT_TRUE(own.issue(1).isOk());
    ASSERT_TRUE(own.wait(1).isOk());
    const auto second = own.look(Space::gradients, 1);
    ASSERT_TRUE(own.wait(0).isOk());
    const auto first = own.look(Space::gradients, 0);
    ASSERT_TRUE(own->synchronize().isOk());
    EXPECT_EQ(*first, Floats(100, 3));
    EXPECT_EQ(*second, Floats(50, 21));
    EXPECT_EQ(own.channel(0).timings().size(), 1u);
    EXPECT_EQ(own.channel(1).timings().front().bucket, 1);
  });
}

/// Rank 1's first message leaves 200 ms after the step's start, times the scale. Says whether the
/// times are those of an idle machine.
bool timesTheWayAndTheWait(int scale) {
  using namespace std::chrono_literals;
  TestMeeting meeting(2);
  std::atomic<bool> areRight = true;
  runRanks(meeting, [&](int rank) {
    TestRank own(meeting, rank, {{Scheme::ring, 10}, {Scheme::ring, 10}});
    own.begin(0);
    if (rank == 1) {
      ASSERT_EQ(enqueue(own.compute(), [=] { std::this_thread::sleep_for(scale * 200ms); }),
                cudaSuccess);
    }
    ASSERT_TRUE(own.issue(0).isOk());
    ASSERT_TRUE(own.issue(1).isOk());
    ASSERT_TRUE(own.wait(0).isOk());
    ASSERT_EQ(enqueue(own.compute(), [=] { std::this_thread::sleep_for(scale * 200ms); }),
              cudaSuccess);
    ASSERT_TRUE(own.wait(1).isOk());
    ASSERT_TRUE(own->synchronize().isOk());
    const auto timings = own.channel().timings();
    ASSERT_EQ(timings.size(), 2u);
    for (const BucketTiming &t : timings) {
      EXPECT_LE(0, t.issued);
      EXPECT_LE(t.issued, t.started);
      EXPECT_LE(t.started, t.finished);
    }
    const double exposed = own.channel().exposedSeconds(), half = scale * 0.1;
    if (rank == 0) {
      EXPECT_LE(exposed, timings[1].finished);
    }
    const bool isRight = timings[0].finished >= half && (rank == 0) == (exposed >= half);
    areRight = areRight && isRight;
  });
  return areRight;
}

// Issued, started, finished; exposed is what computation stood still for: here all of the time that
// the other rank's computation takes, and nothing where the message is there before the wait.
TEST(ChannelTest, TimesTheWayAndTheWait) { EXPECT_TRUE(test::atSomeScale(timesTheWayAndTheWait)); }

// NCCL knows the channel's memory no more when that goes.
TEST(ChannelTest, LeavesBeforeItsMemoryGoes) {
  TestMeeting meeting(2);
  runRanks(meeting, [&](int rank) {
    TestRank own(meeting, rank, {{Scheme::parameterServer, 100}}, WirePrecision::bf16);
  });
  EXPECT_EQ(broken(), cudaSuccess);
}

TEST(ChannelTest, RefusesSchemesThatNcclHasNot) {
  TestMeeting meeting(1);
  TestPeers peers(meeting, 0);
  cuda::CudaExecutable executable({});
  auto links = std::make_shared<cuda::NcclLinks>(executable, peers);
  for (Scheme scheme : {Scheme::recursiveDoubling, Scheme::halvingDoubling, Scheme::hierarchical}) {
    const auto opened = cuda::NcclChannel::open(executable, links, peers,
                                                {.channel = 2, .schemes = {Scheme::ring, scheme}});
    ASSERT_FALSE(opened.isOk());
    EXPECT_EQ(opened.status().kind(), ErrorKind::badInput);
    EXPECT_EQ(opened.status().message(),
              "channel 2: NCCL does not know scheme '" + std::string(schemeName(scheme)) +
                  "'; expected ring, tree, library, parameter-server, reduce-scatter, factors or "
                  "sparse");
  }
}

TEST(ChannelTest, SaysWhatIsMisused) {
  TestMeeting meeting(1);
  runRanks(meeting, [&](int rank) {
    TestRank own(meeting, rank, {{Scheme::ring, 10}});
    own.begin(0);
    EXPECT_EQ(own.wait(0).message(), "bucket 0 is waited for but was not issued");
    ASSERT_TRUE(own.issue(0).isOk());
    const Status again = own.issue(0);
    ASSERT_FALSE(again.isOk());
    EXPECT_EQ(again.message(),
              "the all-reduce of bucket 0: it is issued again before it was waited for");
    EXPECT_EQ(own.wait(0).message(), again.message()); // after an error all fail with it
  });
}

} // namespace
} // namespace syncline::hostcuda
