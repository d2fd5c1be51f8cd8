// LAMB over NCCL's channels: ranks update parts of a parameter by norms of all of it.
#include "tests/host-cuda/TestRanks.h"

#include <cmath>

namespace syncline::hostcuda {
namespace {

using namespace core;

const OptimizerOptions lamb{.rate = 0.05,
                            .weightDecay = 0.1,
                            .kind = OptimizerKind::lamb,
                            .beta1 = 0.8,
                            .beta2 = 0.9,
                            .epsilon = 1e-6};

float weightOf(std::size_t i) { return 0.25f * static_cast<float>(i % 9) - 1; }

/// Whole numbers, whose sums are exact on every wire.
float gradientOf(int rank, std::size_t i, std::int64_t step) {
  return static_cast<float>((i * 5 + static_cast<std::size_t>(rank + step)) % 17) - 6;
}

/// The weights after so many steps on so many ranks.
std::vector<double> expected(std::size_t count, int ranks, std::int64_t steps) {
  std::vector<double> w(count), m(count), v(count), r(count);
  for (std::size_t i = 0; i < count; ++i)
    w[i] = weightOf(i);
  for (std::int64_t t = 1; t <= steps; ++t) {
    double weights = 0, directions = 0;
    for (std::size_t i = 0; i < count; ++i) {
      double g = 0;
      for (int rank = 0; rank < ranks; ++rank)
        g += gradientOf(rank, i, t - 1) / ranks;
      m[i] = lamb.beta1 * m[i] + (1 - lamb.beta1) * g;
      v[i] = lamb.beta2 * v[i] + (1 - lamb.beta2) * g * g;
      const double first = m[i] / (1 - std::pow(lamb.beta1, t));
      const double second = v[i] / (1 - std::pow(lamb.beta2, t));
      r[i] = first / (std::sqrt(second) + lamb.epsilon) + lamb.weightDecay * w[i];
      weights += w[i] * w[i];
      directions += r[i] * r[i];
    }
    for (std::size_t i = 0; i < count; ++i)
      w[i] -= lamb.rate * std::sqrt(weights / directions) * r[i];
  }
  return w;
}

/// A rank with two buckets by "reduce-scatter"; of the second one some ranks have no part.
struct LambRank {
  LambRank(TestMeeting &meeting, int rank, WirePrecision wire)
      : own(meeting, rank, {{Scheme::reduceScatter, 5003}, {Scheme::reduceScatter, 3}}, wire) {
    EXPECT_TRUE(own->setOptimizer(lamb).isOk());
    for (int bucket : {0, 1}) {
      std::vector<float> start(own.count(bucket));
      for (std::size_t i = 0; i < start.size(); ++i)
        start[i] = weightOf(i);
      const int tensor = own->find(Space::parameters, "w" + std::to_string(bucket));
      EXPECT_TRUE(own->write(tensor, std::as_bytes(std::span(start))).isOk());
      const Range part = own.channel().shardOf(own.count(bucket) * 4, ElementType::f32);
      EXPECT_TRUE(own->takeShard(bucket, static_cast<std::int64_t>(part.begin),
                                 static_cast<std::int64_t>(part.size()))
                      .isOk());
    }
  }

  void compute(int bucket) {
    own.compute(bucket, [this](std::size_t i) { return gradientOf(own.rank, i, step); });
  }
  void look() {
    for (int bucket : {0, 1})
      found[bucket] = own.look(Space::parameters, bucket);
  }
  /// Waits, and compares the weights behind this step.
  void check() {
    const Status done = own->synchronize();
    ASSERT_TRUE(done.isOk()) << done.message();
    for (const auto &values : found) {
      const std::vector<double> wanted = expected(values->size(), own.ranks, step + 1);
      for (std::size_t i = 0; i < wanted.size(); ++i)
        ASSERT_NEAR((*values)[i], wanted[i], 1e-6) << "step " << step << ", " << i;
    }
  }

  TestRank own;
  std::int64_t step = 0;
  std::shared_ptr<std::vector<float>> found[2];
};

class LambChannelTest : public testing::TestWithParam<std::tuple<int, WirePrecision>> {};

// Buckets travel whole, and in halves.
TEST_P(LambChannelTest, NormsAreThoseOfAllRanks) {
  const auto [ranks, wire] = GetParam();
  TestMeeting meeting(ranks);
  runRanks(meeting, [&, wire = wire](int rank) {
    LambRank lambs(meeting, rank, wire);
    TestRank &own = lambs.own;
    for (std::int64_t &step = lambs.step; step < 3; ++step) {
      own.begin(step);
      const Half half = step == 1 ? Half::first : Half::whole;
      for (int bucket : {0, 1}) {
        lambs.compute(bucket);
        ASSERT_TRUE(own.issueSharded(bucket, false, half).isOk());
      }
      for (int bucket : {0, 1}) {
        if (half == Half::first) {
          ASSERT_TRUE(own.issueSharded(bucket, false, Half::second).isOk());
        }
        ASSERT_TRUE(own.wait(bucket).isOk());
      }
      lambs.look();
      lambs.check();
    }
  });
}

/// A step whose updates follow the last message and the norm of all gradients, as with --clip-norm.
void tellLate(LambRank &lambs) {
  TestRank &own = lambs.own;
  Channel &channel = own.channel();
  const auto issue = [&](int bucket, Half half) {
    return channel.issueSharded(bucket, {own.gradients(bucket), own.parameters(bucket),
                                         own.count(bucket) * 4, ElementType::f32, false, half,
                                         /*updatesLater=*/true});
  };
  const SumOverRanks sum = [&](std::span<double> squares) {
    const Status s =
        channel.issue(squaresMessage, squares.data(), squares.size_bytes(), ElementType::f64);
    return s ? channel.wait(squaresMessage) : s;
  };
  for (int bucket : {0, 1}) {
    lambs.compute(bucket);
    ASSERT_TRUE(issue(bucket, Half::first).isOk());
  }
  for (int bucket : {0, 1}) {
    ASSERT_TRUE(own.wait(bucket).isOk());
    ASSERT_TRUE(own->addSquares(bucket).isOk());
  }
  ASSERT_TRUE(sum({*own->shardSquares(), 1}).isOk());
  for (int bucket : {0, 1}) {
    ASSERT_TRUE(own->updateShard(bucket, sum).isOk());
    ASSERT_TRUE(issue(bucket, Half::second).isOk());
  }
  for (int bucket : {0, 1})
    ASSERT_TRUE(own.wait(bucket).isOk());
  lambs.look();
}

// The norms travel in messages of their own, told and replayed.
TEST_P(LambChannelTest, UpdatesBehindAllMessages) {
  const auto [ranks, wire] = GetParam();
  const Variable late("SYNCLINE_HOST_CUDA_DELAY", "200");
  TestMeeting meeting(ranks);
  runRanks(meeting, [&, wire = wire](int rank) {
    LambRank lambs(meeting, rank, wire);
    TestRank &own = lambs.own;
    own.begin(0);
    tellLate(lambs);
    lambs.check();
    own.begin(lambs.step = 1);
    ASSERT_TRUE(own->beginCapture().isOk());
    tellLate(lambs);
    const Status captured = own->endCapture();
    ASSERT_TRUE(captured.isOk()) << captured.message();
    for (; lambs.step < 4; ++lambs.step) {
      own.begin(lambs.step, /*replayed=*/true);
      ASSERT_TRUE(own->replay().isOk());
      lambs.check();
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, LambChannelTest,
                         testing::Combine(testing::Values(1, 2, 3, 4),
                                          testing::Values(WirePrecision::fp32,
                                                          WirePrecision::bf16)),
                         [](const auto &info) {
                           return std::to_string(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) == WirePrecision::fp32 ? "fp32"
                                                                                  : "bf16");
                         });

} // namespace
} // namespace syncline::hostcuda
