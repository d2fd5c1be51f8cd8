// Steps that begin while the step before still runs, by backends that can; what the others say.
#include "tests/conformance/TrainedStep.h"

#include <cmath>

namespace syncline::conformance {
namespace {

class AheadTest : public testing::TestWithParam<Backend> {};

/// False where the backend waits for each step and says so.
bool canRunAhead(core::Executable &executable) {
  if (executable.canRunAhead())
    return true;
  EXPECT_EQ(executable.endStep().message(), "this backend runs no steps ahead");
  EXPECT_EQ(executable.outcome(0).status().message(), "this backend runs no steps ahead");
  return false;
}

// Bit by bit, as they are told and captured. Steps of even and of odd numbers are captured apart.
TEST_P(AheadTest, EqualsStepsThatWait) {
  for (const bool replays : {false, true}) {
    TrainedStep waiting(GetParam()), ahead(GetParam());
    if (!canRunAhead(*ahead))
      return;
    (*ahead).runAhead();
    std::vector<double> losses;
    for (int number = 0; number < 9; ++number) {
      waiting.feed(number);
      waiting.runEagerly(number);
      losses.push_back((*waiting).loss());
    }
    const auto expectOutcome = [&](int number) {
      const Result<core::StepOutcome> outcome = (*ahead).outcome(number);
      ASSERT_TRUE(outcome.isOk()) << outcome.status().message();
      EXPECT_EQ(outcome->loss, losses[static_cast<std::size_t>(number)]) << "step " << number;
      EXPECT_TRUE(outcome->isUpdateFinite);
    };
    for (int number = 0; number < 9; ++number) {
      ahead.feedNext(number);
      if (replays && (number == 1 || number == 2)) {
        (*ahead).beginStep(number);
        ahead.capture();
      }
      ahead.tellStep(number, replays && number > 0);
      if (number > 0)
        expectOutcome(number - 1);
    }
    expectOutcome(8);
    EXPECT_TRUE(ahead.outcome() == waiting.outcome());
  }
}

// Each of two steps that are told has its own learning rate, told and captured.
TEST_P(AheadTest, HasTheRateOfEachStep) {
  for (const bool replays : {false, true}) {
    TrainedStep waiting(GetParam()), ahead(GetParam());
    if (!canRunAhead(*ahead))
      return;
    (*ahead).runAhead();
    for (int number = 0; number < 9; ++number)
      for (TrainedStep *step : {&waiting, &ahead}) {
        const double rate = 0.2 / (number + 1);
        (**step).setStepRate(rate);
        (**step).setRate(0, rate);
        if (step == &waiting) {
          waiting.feed(number);
          waiting.runEagerly(number);
          continue;
        }
        ahead.feedNext(number);
        if (replays && (number == 1 || number == 2)) {
          (*ahead).beginStep(number);
          ahead.capture();
        }
        ahead.tellStep(number, replays && number > 0);
        if (number > 0) {
          EXPECT_TRUE((*ahead).outcome(number - 1).isOk());
        }
      }
    EXPECT_TRUE((*ahead).outcome(8).isOk());
    EXPECT_TRUE(ahead.outcome() == waiting.outcome());
  }
}

// The step that met a value that is not finite says so, neither the one before nor the one behind.
TEST_P(AheadTest, BlamesTheStepThatWasNotFinite) {
  TrainedStep ahead(GetParam());
  if (!canRunAhead(*ahead))
    return;
  ASSERT_TRUE((*ahead).setOptimizer({.rate = 0.1, .keepsFinite = true}).isOk());
  (*ahead).runAhead();
  for (int number = 0; number <= 6; ++number) {
    ahead.feedNext(number, number == 3);
    ahead.tellStep(number, false);
    if (number == 0)
      continue;
    const Result<core::StepOutcome> outcome = (*ahead).outcome(number - 1);
    ASSERT_TRUE(outcome.isOk()) << outcome.status().message();
    EXPECT_EQ(outcome->isUpdateFinite, number - 1 != 3) << "step " << number - 1;
    EXPECT_EQ(std::isfinite(outcome->loss), number - 1 != 3) << "step " << number - 1;
  }
}

INSTANTIATE_TEST_SUITE_P(AllBackends, AheadTest, testing::ValuesIn(backends()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace syncline::conformance
