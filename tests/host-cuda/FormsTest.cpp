// Weights that travel by NCCL in place of gradients, against the same algorithms written as loops
// over all ranks. The stand-in adds up in the order of ranks, as the loops do: bits are equal.
#include "tests/host-cuda/WeightRanks.h"

#include <mutex>

namespace syncline::hostcuda {
namespace {

using Plan = run::PlanConsistency;
using Form = Plan::Form;
using Variant = Plan::Variant;

/// What ranks have after `steps` steps, and at the end.
struct Outcome {
  std::vector<Floats> weights; ///< by rank, before the end
  Floats last;
};

/// All ranks in one place.
struct Reference {
  explicit Reference(int ranks) : all(static_cast<std::size_t>(ranks), Floats(weightCount)) {
    for (Floats &weights : all)
      for (std::size_t i = 0; i < weights.size(); ++i)
        weights[i] = initialWeight(i);
    common = all.front();
    velocity.resize(common.size());
  }

  void train(std::int64_t step) {
    for (std::size_t rank = 0; rank < all.size(); ++rank)
      for (std::size_t i = 0; i < weightCount; ++i)
        all[rank][i] = trained(all[rank][i], static_cast<int>(rank), i, step);
  }

  /// The mean over the ranks of common - weights, or of the weights.
  float mean(std::size_t i, bool ofDifferences) const {
    float sum = 0;
    for (const Floats &weights : all)
      sum += ofDifferences ? common[i] - weights[i] : weights[i];
    return sum * static_cast<float>(1.0 / static_cast<double>(all.size()));
  }

  std::vector<Floats> all;
  Floats common, velocity; ///< of diloco; `common` is the centre of easgd
};

Outcome local(int ranks, std::int64_t period, std::int64_t steps) {
  Reference reference(ranks);
  const auto average = [&] {
    for (std::size_t i = 0; i < weightCount; ++i) {
      const float mean = reference.mean(i, false);
      for (Floats &weights : reference.all)
        weights[i] = mean;
    }
  };
  for (std::int64_t step = 0; step < steps; ++step) {
    reference.train(step);
    if ((step + 1) % period == 0)
      average();
  }
  Outcome outcome{reference.all, {}};
  if (steps % period != 0)
    average();
  outcome.last = reference.all.front();
  return outcome;
}

Outcome diloco(int ranks, const Plan &plan, std::int64_t steps) {
  Reference reference(ranks);
  std::vector<Floats> under(plan.exchanges.size());
  std::vector<std::int64_t> sent(plan.exchanges.size());
  const auto start = [&](std::size_t fragment, std::int64_t after) {
    const auto begin = static_cast<std::size_t>(plan.exchanges[fragment].offset) / 4;
    under[fragment].clear();
    for (std::size_t i = 0; i < static_cast<std::size_t>(plan.exchanges[fragment].extent) / 4; ++i)
      under[fragment].push_back(reference.mean(begin + i, true));
    sent[fragment] = after;
  };
  const auto arrive = [&](std::size_t fragment, float mix) {
    const auto begin = static_cast<std::size_t>(plan.exchanges[fragment].offset) / 4;
    const auto rate = static_cast<float>(plan.rate), momentum = static_cast<float>(plan.momentum);
    for (std::size_t k = 0; k < under[fragment].size(); ++k) {
      float &velocity = reference.velocity[begin + k], &common = reference.common[begin + k];
      velocity = momentum * velocity + under[fragment][k];
      common -= rate * (under[fragment][k] + momentum * velocity);
      for (Floats &weights : reference.all)
        weights[begin + k] = mix == 0 ? common : (1 - mix) * common + mix * weights[begin + k];
    }
    under[fragment].clear();
  };
  for (std::int64_t step = 0; step < steps; ++step) {
    reference.train(step);
    for (std::size_t f = 0; f < under.size(); ++f)
      if (step % plan.period + 1 == plan.exchanges[f].start)
        start(f, step + 1);
    for (std::size_t f = 0; f < under.size(); ++f)
      if (step % plan.period + 1 == plan.exchanges[f].wait)
        arrive(f, static_cast<float>(plan.mix));
  }
  Outcome outcome{reference.all, {}};
  for (std::size_t f = 0; f < under.size(); ++f)
    if (!under[f].empty())
      arrive(f, static_cast<float>(plan.mix));
  for (std::size_t f = 0; f < under.size(); ++f)
    if (sent[f] != steps) {
      start(f, steps);
      arrive(f, 0);
    }
  outcome.last = reference.common;
  return outcome;
}

Outcome elastic(int ranks, float share, std::int64_t period, std::int64_t steps) {
  Reference reference(ranks);
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::vector<Floats> before = reference.all;
    reference.train(step);
    for (std::size_t i = 0; step % period == 0 && i < weightCount; ++i) {
      float sum = 0;
      for (const Floats &own : before)
        sum += own[i];
      float &centre = reference.common[i];
      for (std::size_t rank = 0; rank < before.size(); ++rank)
        reference.all[rank][i] -= share * (before[rank][i] - centre);
      centre += share * (sum - static_cast<float>(ranks) * centre);
    }
  }
  return {reference.all, reference.common};
}

/// Runs the plan on the ranks; works of streams are late by up to `delay` microseconds.
Outcome runForm(int ranks, const Plan &plan, std::int64_t steps, int delay, double rate = 1) {
  const Variable late("SYNCLINE_HOST_CUDA_DELAY", std::to_string(delay));
  TestMeeting meeting(ranks);
  Outcome outcome{std::vector<Floats>(static_cast<std::size_t>(ranks)), {}};
  std::mutex mutex;
  runRanks(meeting, [&](int rank) {
    WeightRank own(meeting, rank, plan, rate);
    for (std::int64_t step = 0; step < steps; ++step) {
      const Status done = own.step(step);
      ASSERT_TRUE(done.isOk()) << done.message();
    }
    const Floats before = own.weights();
    const Status done = own.finish();
    ASSERT_TRUE(done.isOk()) << done.message();
    const Floats last = own.weights();
    std::lock_guard lock(mutex);
    outcome.weights[static_cast<std::size_t>(rank)] = before;
    if (outcome.last.empty())
      outcome.last = last;
    EXPECT_EQ(last, outcome.last) << "rank " << rank;
  });
  return outcome;
}

void expectSame(const Outcome &found, const Outcome &wanted) {
  for (std::size_t rank = 0; rank < wanted.weights.size(); ++rank)
    EXPECT_EQ(found.weights[rank], wanted.weights[rank]) << "rank " << rank;
  EXPECT_EQ(found.last, wanted.last);
}

/// Ranks and the longest delay of each work in microseconds.
class FormsTest : public testing::TestWithParam<std::tuple<int, int>> {};

// The run ends within a period: the weights travel once more.
TEST_P(FormsTest, LocalUpdatesTakeTheMean) {
  const auto [ranks, delay] = GetParam();
  expectSame(runForm(ranks, planOf(Form::local, 3, 1, 0), 8, delay), local(ranks, 3, 8));
}

// Fragments travel while two steps train on; one is under way at the end of 11 steps, and of 8
// steps none is.
TEST_P(FormsTest, DilocoTakesOuterSteps) {
  const auto [ranks, delay] = GetParam();
  for (const std::int64_t steps : {11, 8}) {
    Plan plan = planOf(Form::diloco, 8, 2, 2);
    plan.mix = 0.25;
    plan.rate = 0.75;
    plan.momentum = 0.5;
    expectSame(runForm(ranks, plan, steps, delay), diloco(ranks, plan, steps));
  }
}

// All variants of EASGD have the same bits, in every step and in every second one.
TEST_P(FormsTest, ElasticVariantsAreOneAlgorithm) {
  const auto [ranks, delay] = GetParam();
  for (const std::int64_t period : {1, 2})
    for (const Variant variant : {Variant::sync1, Variant::sync2, Variant::sync3}) {
      Plan plan = planOf(Form::easgd, period, 1, 0);
      plan.variant = variant;
      plan.rho = 0.5;
      expectSame(runForm(ranks, plan, 5, delay, 0.25), elastic(ranks, 0.125f, period, 5));
    }
}

INSTANTIATE_TEST_SUITE_P(Ranks, FormsTest,
                         testing::Combine(testing::Values(1, 2, 3), testing::Values(0, 300)),
                         [](const auto &info) {
                           return std::to_string(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) ? "late" : "");
                         });

// What a checkpoint takes and gives back: a second run goes on where the first one stopped.
TEST(FormsStateTest, GoesOn) {
  Plan plan = planOf(Form::diloco, 4, 1, 1);
  plan.mix = 0.25;
  plan.rate = 0.75;
  plan.momentum = 0.5;
  TestMeeting first(2), second(2);
  std::vector<std::vector<Floats>> saved(2);
  std::vector<std::vector<std::byte>> numbers(2);
  const auto each = [](core::Exchanges &exchanges, auto &&weights, auto &&own) {
    for (const core::ExchangeState &part : exchanges.state())
      part.own.empty() ? weights(part.weights) : own(part.own);
  };
  runRanks(first, [&](int rank) {
    WeightRank own(first, rank, plan);
    for (std::int64_t step = 0; step < 4; ++step)
      ASSERT_TRUE(own.step(step).isOk());
    std::vector<Floats> &mine = saved[static_cast<std::size_t>(rank)];
    mine.push_back(own.weights());
    each(
        *own.exchanges,
        [&](std::span<float> part) {
          mine.emplace_back(part.size());
          ASSERT_TRUE(
              own.own->weights().read(part, std::as_writable_bytes(std::span(mine.back()))).isOk());
        },
        [&](std::span<std::byte> part) {
          auto &bytes = numbers[static_cast<std::size_t>(rank)];
          bytes.insert(bytes.end(), part.begin(), part.end());
        });
    ASSERT_EQ(mine.size(), 3u); // the weights, the common ones, the velocity
  });
  Floats last;
  std::mutex mutex;
  runRanks(second, [&](int rank) {
    WeightRank own(second, rank, plan);
    const std::vector<Floats> &mine = saved[static_cast<std::size_t>(rank)];
    std::ranges::copy(mine.front(), own.own.parameters(0));
    std::size_t part = 0, byte = 0;
    each(
        *own.exchanges,
        [&](std::span<float> to) {
          ASSERT_TRUE(own.own->weights().write(to, std::as_bytes(std::span(mine[++part]))).isOk());
        },
        [&](std::span<std::byte> to) {
          for (std::byte &each : to)
            each = numbers[static_cast<std::size_t>(rank)][byte++];
        });
    for (std::int64_t step = 4; step < 9; ++step)
      ASSERT_TRUE(own.step(step).isOk());
    ASSERT_TRUE(own.finish().isOk());
    const Floats weights = own.weights();
    std::lock_guard lock(mutex);
    last = weights;
  });
  EXPECT_EQ(last, diloco(2, plan, 9).last);
}

} // namespace
} // namespace syncline::hostcuda
