// Captured steps with a learning rate of their own each: an update has the rate of the step that
// computed its gradients, also where it comes in the next step, or beside it.
#include "tests/host-cuda/TestRanks.h"

namespace syncline::hostcuda {
namespace {

using namespace core;

using Floats = std::vector<float>;

/// Powers of two, so that updates are exact. Steps in a row differ, and so do steps of even numbers
/// and steps of odd numbers in a row.
double rateOf(std::int64_t step) { return 1 / static_cast<double>(1 << (step % 5)); }

/// Whole numbers, whose sum over the ranks is a multiple of the ranks' number.
float gradientOf(int rank, int ranks, std::size_t i, std::int64_t step) {
  return static_cast<float>((i * 7 + static_cast<std::size_t>(step) * 5) % 13) - 6 +
         static_cast<float>(ranks * rank);
}

/// The weights after so many steps of SGD without momentum, which begin at 0.
Floats expected(std::size_t count, int ranks, std::int64_t steps) {
  Floats weights(count);
  for (std::int64_t step = 0; step < steps; ++step)
    for (std::size_t i = 0; i < count; ++i) {
      float sum = 0;
      for (int rank = 0; rank < ranks; ++rank)
        sum += gradientOf(rank, ranks, i, step);
      weights[i] -= static_cast<float>(rateOf(step)) * sum / static_cast<float>(ranks);
    }
  return weights;
}

/// A rank with a bucket that an operation updates and one that its message updates. Where messages
/// are carried, the next step waits for both and runs the operation.
struct ScheduledRank {
  ScheduledRank(TestMeeting &meeting, int rank, bool carries, bool replays)
      : own(meeting, rank, {{Scheme::ring, 203}, {Scheme::reduceScatter, 5003}},
            WirePrecision::fp32,
            /*updates=*/1, carries),
        carries(carries), replays(replays) {
    EXPECT_TRUE(own->setOptimizer({.rate = 1000}).isOk()); // no step's
    const Range part = own.channel().shardOf(own.count(1) * 4, ElementType::f32);
    EXPECT_TRUE(own->takeShard(1, static_cast<std::int64_t>(part.begin),
                               static_cast<std::int64_t>(part.size()))
                    .isOk());
  }

  void receive() {
    for (int bucket : {0, 1})
      EXPECT_TRUE(own.wait(bucket).isOk());
    EXPECT_TRUE(own->run(static_cast<int>(own->operations().size()) - 1).isOk());
  }

  void setRates() {
    for (int bucket : {0, 1})
      own->setRate(bucket, rateOf(number));
  }

  void tell() {
    if (isUnderWay)
      receive();
    setRates();
    for (int bucket : {0, 1})
      own.compute(bucket,
                  [this](std::size_t i) { return gradientOf(own.rank, own.ranks, i, number); });
    EXPECT_TRUE(own.issue(0).isOk());
    EXPECT_TRUE(own.issueSharded(1).isOk());
    if (!carries)
      receive();
  }

  /// The next step, as the training loop does it.
  void step(bool isDrained) {
    ++number;
    const bool isReplay = replays && number >= 2 && isUnderWay == carries;
    own->setStepRate(rateOf(number));
    own.begin(number);
    if (isReplay && !own->isCaptured()) {
      ASSERT_TRUE(own->beginCapture().isOk());
      tell();
      const Status captured = own->endCapture();
      ASSERT_TRUE(captured.isOk()) << captured.message();
      ++captures;
    }
    if (isReplay) {
      own.begin(number, /*replayed=*/true);
      ASSERT_TRUE(own->replay().isOk());
      setRates();
    } else {
      tell();
    }
    if (carries && isDrained)
      receive();
    isUnderWay = carries && !isDrained;
  }

  TestRank own;
  const bool carries, replays;
  std::int64_t number = -1;
  int captures = 0;
  bool isUnderWay = false;
};

/// Ranks, and whether messages are carried and steps captured.
class StepRatesTest : public testing::TestWithParam<std::tuple<int, bool, bool>> {};

// Works are late at random, so that a rate which is written too early is read too late.
TEST_P(StepRatesTest, UpdatesHaveTheRateOfTheirStep) {
  const auto [ranks, carries, replays] = GetParam();
  const Variable late("SYNCLINE_HOST_CUDA_DELAY", "300");
  TestMeeting meeting(ranks);
  runRanks(meeting, [&, ranks = ranks, carries = carries, replays = replays](int rank) {
    ScheduledRank scheduled(meeting, rank, carries, replays);
    TestRank &own = scheduled.own;
    for (std::int64_t step = 0; step < 18; ++step) {
      const bool isDrained = step == 4 || step == 11 || step == 17;
      scheduled.step(isDrained);
      std::shared_ptr<Floats> seen[2];
      for (int bucket : {0, 1})
        if (isDrained || !carries)
          seen[bucket] = own.look(Space::parameters, bucket);
      const Status done = own->synchronize();
      ASSERT_TRUE(done.isOk()) << done.message();
      for (const auto &weights : seen) {
        if (weights) {
          EXPECT_EQ(*weights, expected(weights->size(), ranks, step + 1)) << "step " << step;
        }
      }
    }
    EXPECT_EQ(scheduled.captures, !replays ? 0 : carries ? 2 : 1);
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, StepRatesTest,
                         testing::Combine(testing::Values(1, 2), testing::Bool(), testing::Bool()),
                         [](const auto &info) {
                           return std::to_string(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) ? "carried" : "own") +
                                  (std::get<2>(info.param) ? "replayed" : "told");
                         });

} // namespace
} // namespace syncline::hostcuda
