// When operations were done, by the device's own clock.
#include "tests/conformance/TrainedStep.h"

#include "runtime/core/Deadline.h"

#include <algorithm>
#include <thread>

namespace syncline::conformance {
namespace {

using namespace core;

class MarksTest : public testing::TestWithParam<Backend> {};

/// One for each operation and one more, from 0 upwards, none later than `longest` seconds.
void expectMarks(Executable &executable, double longest) {
  const Result<std::vector<double>> marks = executable.marks();
  ASSERT_TRUE(marks.isOk()) << marks.status().message();
  ASSERT_EQ(marks->size(), executable.operations().size() + 1);
  EXPECT_EQ(marks->front(), 0);
  EXPECT_TRUE(std::is_sorted(marks->begin(), marks->end()));
  EXPECT_GT(marks->back(), 0);
  EXPECT_LE(marks->back(), longest);
}

TEST_P(MarksTest, AreOfThisStepAndInOrder) {
  TrainedStep step(GetParam());
  for (int number = 0; number < 3; ++number) {
    step.feed(number);
    const auto start = Clock::now();
    step.runEagerly(number, /*marked=*/true);
    expectMarks(*step, secondsSince(start));
  }
}

// The time between two marks also counts what the host spends.
TEST_P(MarksTest, CountFromTheFirst) {
  TrainedStep step(GetParam());
  step.runEagerly(0);
  (*step).beginStep(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  const auto start = Clock::now();
  ASSERT_TRUE((*step).mark(0).isOk());
  ASSERT_TRUE((*step).run(0).isOk());
  ASSERT_TRUE((*step).synchronize().isOk());
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_TRUE((*step).mark(1).isOk());
  ASSERT_TRUE((*step).synchronize().isOk());
  const Result<std::vector<double>> marks = (*step).marks();
  ASSERT_TRUE(marks.isOk()) << marks.status().message();
  EXPECT_GE(marks->at(1), 0.0195);
  EXPECT_LE(marks->at(1), secondsSince(start));
}

// A replay sets its marks anew, and keeps none of the slow step before it.
TEST_P(MarksTest, AreSetByEachReplay) {
  TrainedStep step(GetParam());
  if (!(*step).canCapture())
    return;
  step.runEagerly(0, /*marked=*/true);
  step.capture(/*marked=*/true);
  for (int number = 1; number < 4; ++number) {
    const auto start = Clock::now();
    step.replay(number);
    expectMarks(*step, secondsSince(start));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ASSERT_TRUE((*step).mark(static_cast<int>((*step).operations().size())).isOk());
    ASSERT_TRUE((*step).synchronize().isOk());
    EXPECT_GT((*step).marks()->back(), 0.0195);
  }
}

INSTANTIATE_TEST_SUITE_P(AllBackends, MarksTest, testing::ValuesIn(backends()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace syncline::conformance
