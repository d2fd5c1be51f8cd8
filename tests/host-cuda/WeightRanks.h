// Ranks whose weights travel between their steps, over NCCL's channels: what a trainer does with
// LocalUpdates and ElasticUpdates, with a step of one operation.
#pragma once

#include "tests/host-cuda/TestRanks.h"

#include "runtime/run/weights/ElasticUpdates.h"
#include "runtime/run/weights/LocalUpdates.h"

namespace syncline::hostcuda {

inline constexpr std::int64_t weightCount = 1003, firstFragment = 512;
using Floats = std::vector<float>;

inline float initialWeight(std::size_t i) { return static_cast<float>(i % 17) * 0.25f - 2; }

/// A step's training of one weight. Ranks go apart.
inline float trained(float weight, int rank, std::size_t i, std::int64_t step) {
  const auto number = i * 7 + static_cast<std::size_t>(rank * 3 + step * 5);
  return weight * 0.875f + static_cast<float>(number % 31) * 0.1f;
}

/// An all-reduce of all weights, or of two fragments, in a period.
inline run::PlanConsistency planOf(run::PlanConsistency::Form form, std::int64_t period,
                                   int fragments, std::int64_t delay) {
  run::PlanConsistency plan;
  plan.form = form;
  plan.period = period;
  const std::int64_t cuts[] = {0, fragments == 2 ? firstFragment : weightCount, weightCount};
  for (int i = 0; i < fragments; ++i) {
    const std::int64_t wait = (i + 1) * (period / fragments);
    plan.exchanges.push_back(
        {i, Scheme::tree, cuts[i] * 4, (cuts[i + 1] - cuts[i]) * 4, wait - delay, wait});
  }
  return plan;
}

/// A rank with the loss on channel 0 and the weights on channel 1.
class WeightRank {
public:
  WeightRank(TestMeeting &meeting, int rank, const run::PlanConsistency &plan, double rate = 1)
      : own(meeting, rank, {{Scheme::ring, weightCount}}),
        losses(&own.channel(), Scheme::ring, own.ranks) {
    core::Channel &weights = own.open(1, Scheme::tree);
    const std::span all(own.parameters(0), static_cast<std::size_t>(weightCount));
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = initialWeight(i);
    if (plan.form == run::PlanConsistency::Form::easgd) {
      auto made = run::ElasticUpdates::create(plan, rate, {own->weights(), all}, own.ranks,
                                              &weights, nullptr);
      EXPECT_TRUE(made.isOk());
      exchanges = std::move(*made);
    } else {
      auto made =
          run::LocalUpdates::create(plan, {own->weights(), all}, own.ranks, &weights, losses);
      EXPECT_TRUE(made.isOk());
      exchanges = std::move(*made);
    }
    EXPECT_TRUE(own->synchronize().isOk());
  }

  /// A step as the trainer runs it, but that the host does not wait between exchanges and training:
  /// only events order them.
  Status step(std::int64_t number) {
    for (int channel : {0, 1})
      own.channel(channel).startStep(number);
    if (Status s = exchanges->beforeStep(number); !s)
      return s;
    own->beginStep(number);
    train(number);
    losses.add({.step = number, .loss = 1.0});
    if (Status s = exchanges->afterStep(number); !s)
      return s;
    return own->synchronize();
  }

  Status finish() {
    const Status s = exchanges->finish();
    return s ? own->synchronize() : s;
  }

  Floats weights() {
    const auto seen = own.look(Space::parameters, 0);
    EXPECT_TRUE(own->synchronize().isOk());
    return *seen;
  }

  TestRank own;
  run::LossExchange losses;
  std::unique_ptr<core::Exchanges> exchanges;
  std::function<void()> hold = [] {}; ///< what the device does before a step's training

private:
  void train(std::int64_t number) {
    EXPECT_EQ(enqueue(own.compute(),
                      [to = own.parameters(0), rank = own.rank, number, hold = hold] {
                        hold();
                        for (std::size_t i = 0; i < weightCount; ++i)
                          to[i] = trained(to[i], rank, i, number);
                      }),
              cudaSuccess);
  }
};

} // namespace syncline::hostcuda
