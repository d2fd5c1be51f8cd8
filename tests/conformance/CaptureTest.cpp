// Steps captured once and replayed, by backends that can; what the others say.
#include "tests/conformance/TrainedStep.h"

#include <cmath>

namespace syncline::conformance {
namespace {

class CaptureTest : public testing::TestWithParam<Backend> {};

/// False where the backend captures nothing and says so.
bool canCapture(core::Executable &executable) {
  if (executable.canCapture())
    return true;
  for (const Status &refused :
       {executable.beginCapture(), executable.endCapture(), executable.replay()})
    EXPECT_EQ(refused.message(), "this backend captures no steps");
  EXPECT_FALSE(executable.isCaptured());
  return false;
}

/// Runs the same step of both. `eager` is told every step. `captured` is told the first and the
/// fourth one, captures the second one and replays the others.
void runBoth(TrainedStep &eager, TrainedStep &captured, int number) {
  eager.runEagerly(number);
  if (number == 1)
    captured.capture();
  if (number == 0 || number == 3)
    captured.runEagerly(number);
  else
    captured.replay(number);
}

// Bit by bit: parameters, velocity behind them, dropout's mask, results and the loss, with other
// inputs each time, and with eager steps in between.
TEST_P(CaptureTest, ReplaysEqualEagerSteps) {
  TrainedStep eager(GetParam()), captured(GetParam());
  if (!canCapture(*captured))
    return;
  TrainedStep::Outcome before;
  for (int number = 0; number < 6; ++number) {
    eager.feed(number);
    captured.feed(number);
    runBoth(eager, captured, number);
    const TrainedStep::Outcome expected = eager.outcome(), actual = captured.outcome();
    EXPECT_EQ(actual.mask, expected.mask) << "step " << number;
    EXPECT_TRUE(actual == expected) << "step " << number;
    EXPECT_TRUE(std::isfinite(actual.loss));
    EXPECT_NE(actual.mask, before.mask) << "step " << number;
    before = actual;
  }
}

TEST_P(CaptureTest, CapturingCarriesNothingOut) {
  TrainedStep step(GetParam());
  if (!canCapture(*step))
    return;
  step.feed(0);
  step.runEagerly(0);
  const TrainedStep::Outcome before = step.outcome();
  EXPECT_FALSE((*step).isCaptured());
  step.capture();
  EXPECT_TRUE((*step).synchronize().isOk());
  EXPECT_TRUE(step.outcome() == before);
}

/// Every optimizer, in every form that has its own kernel.
std::vector<core::OptimizerOptions> optimizers() {
  std::vector<core::OptimizerOptions> all{{.weightDecay = 0.01},
                                          {.momentum = 0.9, .weightDecay = 0.01},
                                          {.momentum = 0.9, .nesterov = true, .keepsFinite = true}};
  for (const OptimizerKind kind : {OptimizerKind::adam, OptimizerKind::adamw, OptimizerKind::lamb})
    all.push_back({.weightDecay = 0.1, .kind = kind, .beta1 = 0.8, .beta2 = 0.9});
  return all;
}

// A captured step has another learning rate in each replay, and the parameter a part of it. Bit by
// bit as in steps that are told.
TEST_P(CaptureTest, ReplaysHaveTheRateOfTheirStep) {
  for (const core::OptimizerOptions &options : optimizers()) {
    TrainedStep eager(GetParam()), captured(GetParam());
    if (!canCapture(*captured))
      return;
    for (TrainedStep *step : {&eager, &captured}) {
      ASSERT_TRUE((**step).setOptimizer(options).isOk());
      ASSERT_TRUE((**step).setRules({{(**step).find(Space::parameters, "w"), {0.3, {}}}}).isOk());
    }
    for (int number = 0; number < 6; ++number) {
      for (TrainedStep *step : {&eager, &captured}) {
        const double rate = number == 5 ? 0 : 0.07 / (number + 1); // 0 ends some schedules
        (**step).setStepRate(rate);
        (**step).setRate(0, rate);
        step->feed(number);
      }
      runBoth(eager, captured, number);
      EXPECT_TRUE(captured.outcome() == eager.outcome())
          << optimizerName(options.kind) << ", step " << number;
    }
  }
}

// A captured step contains its optimizer, so a new one ends it.
TEST_P(CaptureTest, NewOptimizerEndsACapturedStep) {
  TrainedStep eager(GetParam()), captured(GetParam());
  if (!canCapture(*captured))
    return;
  for (TrainedStep *step : {&eager, &captured}) {
    step->feed(0);
    step->runEagerly(0);
  }
  captured.capture();
  for (TrainedStep *step : {&eager, &captured})
    ASSERT_TRUE((**step).setOptimizer({.rate = 0.5, .momentum = 0.9, .nesterov = true}).isOk());
  EXPECT_FALSE((*captured).isCaptured());
  EXPECT_EQ((*captured).replay().kind(), ErrorKind::internal);
  captured.capture();
  eager.runEagerly(1);
  captured.replay(1);
  EXPECT_TRUE(captured.outcome() == eager.outcome());
}

// An operation that cannot be captured is named and ends the capture; later steps are right.
TEST_P(CaptureTest, SpoiledCaptureNamesTheOperation) {
  TrainedStep step(GetParam()), whole(GetParam());
  if (!canCapture(*step))
    return;
  for (TrainedStep *each : {&step, &whole}) {
    each->feed(0);
    each->runEagerly(0);
  }
  ASSERT_TRUE((*step).beginCapture().isOk());
  EXPECT_TRUE((*step).run(0).isOk());
  EXPECT_FALSE((*step).synchronize().isOk()); // the host waits
  const Status ran = (*step).run(1);
  EXPECT_EQ(ran.message().rfind("layer 'conv': conv: ", 0), 0u) << ran.message();
  const Status ended = (*step).endCapture();
  EXPECT_NE(ended.message().find("what was told before layer 'conv': conv cannot be captured"),
            std::string::npos)
      << ended.message();
  EXPECT_FALSE((*step).isCaptured());
  EXPECT_FALSE((*step).replay().isOk());
  step.capture();
  step.replay(1);
  whole.runEagerly(1);
  EXPECT_TRUE(step.outcome() == whole.outcome());
}

INSTANTIATE_TEST_SUITE_P(AllBackends, CaptureTest, testing::ValuesIn(backends()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace syncline::conformance
