// What messages cost the workers' computation, against reckonings by hand. With an interference of
// 2, a link that is full in both directions takes half of a processor.
#include "WorkerScenes.h"

#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::simulate;

namespace {

double stepOf(WorkerScenario scenario) {
  scenario.machines.interference = 2;
  Result<WorkerSimulation> result = runWorkers(scenario);
  EXPECT_TRUE(result) << result.status().message();
  return result ? result->stepSeconds() : 0;
}

constexpr Consistency async = {.form = Form::easgd, .elastic = Elastic::async};

} // namespace

// 3 s of sending, then 3 s of receiving, fill a worker's link in one direction at a time. So a
// quarter of the processor is lost for 6 s.
TEST(WorkerInterferenceTest, AMessageTakesTheProcessorByHowFullItsLinkIs) {
  EXPECT_NEAR(stepOf(withLinks(workersOf({1}, async))), 11.5, 1e-9);
}

// A worker that takes 1.6 times as long loses 1.6 times as much: 0.4 of its speed for 6 s.
TEST(WorkerInterferenceTest, ASlowerWorkerLosesMore) {
  EXPECT_NEAR(stepOf(withLinks(workersOf({1.6}, async))), 16 + 0.4 * 6, 1e-9);
}

// Servers in the workers' processes: each worker sends half of its weights while it receives as
// much for its own shard, and the same again for what comes back. 1.5 s each fill a link both ways.
TEST(WorkerInterferenceTest, AShardBesideAWorkerSlowsIt) {
  WorkerScenario scenario = withLinks(workersOf({1, 1}, async));
  scenario.machines.dedicated = false;
  EXPECT_NEAR(stepOf(scenario), 11.5, 1e-9);
}

// A collective of 4 s behind which half of the computation goes on.
TEST(WorkerInterferenceTest, ACollectiveSlowsAllWorkers) {
  WorkerScenario scenario = workersOf({1, 1}, {.form = Form::easgd, .elastic = Elastic::sync3});
  scenario.exchanges = {4};
  EXPECT_NEAR(stepOf(scenario), 12, 1e-9);
  scenario.machines.slowdown = {1, 1.5};
  EXPECT_NEAR(stepOf(scenario), 15 + 0.75 * 4, 0.05); // the other worker began one more
  scenario.machines.slowdown = {1, 4};
  EXPECT_NEAR(stepOf(scenario), 40 + 0.9 * 4, 0.05); // a tenth is left
}

// Where the message is over before the computation begins, nothing is lost.
TEST(WorkerInterferenceTest, AMessageThatIsNotHiddenCostsNothing) {
  WorkerScenario scenario = workersOf({1, 1}, {.form = Form::local, .period = 4});
  scenario.exchanges = {6};
  EXPECT_NEAR(stepOf(scenario), 10 + 6 / 4.0, 1e-9);
}
