// Steps that are drawn from recorded ones, and what they take beside reckonings by hand.
#include "passes/simulate/Disturbance.h"
#include "tests/unit/simulate/Scenes.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <ranges>

using namespace syncline;
using namespace syncline::simulate;

namespace {

constexpr double messageSeconds = 0.5, updateSeconds = 0.25;

/// Forward 1 s, backward 2 s with a message of 0.5 s after the first, then an update of 0.25 s.
Scenario barrier(Scatter scatter, int ranks = 2) {
  return barrierScene(std::move(scatter), ranks, messageSeconds, updateSeconds);
}

StepSpread spreadOf(const Scenario &scenario, const std::vector<double> &messages = {}) {
  const auto spread = simulateDisturbed(scenario, messages);
  EXPECT_TRUE(spread && *spread);
  return spread && *spread ? **spread : StepSpread();
}

const Scatter recorded = {{{1, 1.25, 1.5, 2}, {1, 1, 1.75, 3}}};

} // namespace

TEST(Disturbance, RanksRecordedTogetherMeetOneStep) {
  const Scatter drawn = drawSteps(recorded, 5);
  ASSERT_EQ(drawn.factors.size(), 5u);
  bool differs = false;
  for (std::size_t step = 0; step < disturbedSteps; ++step) {
    for (std::size_t first : {0, 2}) {
      const auto at = std::ranges::find(recorded.factors[0], drawn.factors[first][step]);
      ASSERT_NE(at, recorded.factors[0].end());
      EXPECT_EQ(drawn.factors[first + 1][step],
                recorded.factors[1][static_cast<std::size_t>(at - recorded.factors[0].begin())]);
    }
    differs |= drawn.factors[0][step] != drawn.factors[2][step];
  }
  EXPECT_TRUE(differs); // groups meet steps of their own
}

TEST(Disturbance, DrawsTheSameEachTime) {
  EXPECT_EQ(drawSteps(recorded, 7).factors, drawSteps(recorded, 7).factors);
  const Scatter few = drawSteps(recorded, 2), many = drawSteps(recorded, 7);
  EXPECT_TRUE(std::ranges::equal(few.factors, many.factors | std::views::take(2)));
}

TEST(Disturbance, DrawsRecordedStepsEquallyOften) {
  const Scatter drawn = drawSteps(recorded, 2);
  for (const double factor : recorded.factors[0])
    EXPECT_EQ(std::ranges::count(drawn.factors[0], factor), disturbedSteps / 4) << factor;
  Scatter many = {{{}}};
  for (int step = 0; step < 50; ++step)
    many.factors[0].push_back(1 + step);
  std::vector<double> some = drawSteps(many, 1).factors[0];
  std::ranges::sort(some);
  EXPECT_EQ(std::ranges::adjacent_find(some), some.end()); // none twice
}

// With a message that hides, each step takes 3.25 s times the slower rank's factor, less what the
// faster rank's update does not wait for.
TEST(Disturbance, IsTheMeanAndTheQuantilesOfTheDrawnSteps) {
  const Scatter alike = {{{1, 1.5, 2}, {1, 1.5, 2}}};
  const Scatter drawn = drawSteps(alike, 2);
  std::vector<double> steps;
  double sum = 0;
  for (const double factor : drawn.factors[0]) {
    steps.push_back(3.25 * factor);
    sum += 3.25 * factor;
  }
  std::ranges::sort(steps);
  const StepSpread spread = spreadOf(barrier(alike));
  EXPECT_NEAR(spread.mean, sum / disturbedSteps, 1e-12 * sum);
  EXPECT_NEAR(spread.low, steps[3], 1e-12 * sum);   // the fourth of 32
  EXPECT_NEAR(spread.high, steps[28], 1e-12 * sum); // the 29th
}

// All 32 steps count, each once, though the first ones of an order warm it up.
TEST(Disturbance, AnOrderMeetsTheSameSteps) {
  const Scatter alike = {{{1, 1.5, 2}, {1, 1.5, 2}}};
  Scenario order = barrier(alike);
  std::rotate(order.operations.begin() + 1, order.operations.end() - 2, order.operations.end());
  EXPECT_NEAR(spreadOf(order).mean, spreadOf(barrier(alike)).mean, 1e-9);
}

// Each message meets each number as often as any other, in an order of its own that no other
// message changes.
TEST(Disturbance, DrawsMessages) {
  const std::vector<double> numbers{0.75, 1, 1, 2};
  const auto few = drawMessages(numbers, 2), many = drawMessages(numbers, 5);
  ASSERT_EQ(many.size(), 5u);
  EXPECT_TRUE(std::ranges::equal(few, many | std::views::take(2)));
  for (const std::vector<double> &message : many) {
    ASSERT_EQ(message.size(), static_cast<std::size_t>(disturbedSteps));
    EXPECT_EQ(std::ranges::count(message, 1.0), disturbedSteps / 2);
    EXPECT_EQ(std::ranges::count(message, 2.0), disturbedSteps / 4);
  }
  EXPECT_NE(many[0], many[1]);
  EXPECT_NE(drawMessages(std::vector<double>{1, 2, 3, 4}, 1)[0],
            drawSteps({{{1, 2, 3, 4}}}, 1).factors[0]); // ranks and messages draw apart
}

const std::vector<double> scattering{0.5, 1, 4};
const Scatter together = {{{1, 1.5, 2}, {1, 1.5, 2}}};

// The step reckoned by hand: the message follows the first part of the backward pass, beside the
// second one, and the update follows both.
TEST(Disturbance, MessagesScatterBesideRanks) {
  const Scatter ranks = drawSteps(together, 2);
  const std::vector<double> messages = drawMessages(scattering, 1)[0];
  double sum = 0;
  for (std::size_t step = 0; step < disturbedSteps; ++step) {
    const double slow = ranks.factors[0][step];
    sum += std::max(3 * slow, 2 * slow + messages[step] * messageSeconds) + updateSeconds * slow;
  }
  EXPECT_NEAR(spreadOf(barrier(together), scattering).mean, sum / disturbedSteps, 1e-12 * sum);
  EXPECT_GT(sum / disturbedSteps, 1.01 * spreadOf(barrier(together)).mean);
}

// A step that begins with the message of the step before is reckoned likewise.
TEST(Disturbance, MessagesOfAnOrderScatter) {
  Scenario order = barrier(together);
  std::rotate(order.operations.begin(), order.operations.end() - 2, order.operations.end());
  const Scatter ranks = drawSteps(together, 2);
  const std::vector<double> messages = drawMessages(scattering, 1)[0];
  double now = 0, arrived = 0, begun = 0;
  for (std::size_t step = 0; step < carriedWarmUp + disturbedSteps; ++step) {
    const double slow = ranks.factors[0][step % disturbedSteps];
    if (step > 0)
      now = std::max(now, arrived) + updateSeconds * slow;
    now += 2 * slow;
    arrived = now + messages[step % disturbedSteps] * messageSeconds;
    now += slow;
    if (step + 1 == carriedWarmUp)
      begun = now;
  }
  const double mean = (now - begun) / disturbedSteps;
  EXPECT_NEAR(spreadOf(order, scattering).mean, mean, 1e-12 * mean);
}

// Numbers that are all 1 change no bit.
TEST(Disturbance, MessagesThatDoNotScatter) {
  const StepSpread without = spreadOf(barrier(recorded)),
                   with = spreadOf(barrier(recorded), {1, 1, 1});
  EXPECT_EQ(with.mean, without.mean);
  EXPECT_EQ(with.low, without.low);
  EXPECT_EQ(with.high, without.high);
}

TEST(Disturbance, NothingRecorded) {
  for (const std::vector<double> &messages : {std::vector<double>(), scattering}) {
    const auto spread = simulateDisturbed(barrier({}), messages);
    ASSERT_TRUE(spread);
    EXPECT_FALSE(*spread);
  }
}

// Ranks that would take too long to simulate have no result; messages alone take their cost.
TEST(Disturbance, TooMuchWork) {
  const auto many = simulateDisturbed(barrier(recorded, 20'000));
  ASSERT_TRUE(many);
  EXPECT_FALSE(*many);
  Scenario rounds = barrier(recorded, 2000);
  rounds.machines.network = problem::LinkRates{1e-6, 1e-9, 0};
  rounds.messages[0].isStated = false; // a ring of 2000 ranks has 4e6 tasks
  rounds.messages[0].scheme = Scheme::ring;
  EXPECT_GE(spreadOf(rounds).mean, 3.25);
}

TEST(Disturbance, RefusesFaultyFactors) {
  const auto spread = simulateDisturbed(barrier({{{1, -1}, {1, 1}}}));
  ASSERT_FALSE(spread);
  EXPECT_NE(spread.status().message().find("expected factors above 0"), std::string::npos);
}
