// Consistencies in virtual time, against reckonings by hand.
#include "TimeSlices.h"
#include "WorkerScenes.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

using namespace syncline;
using namespace syncline::simulate;

namespace {

WorkerSimulation run(const WorkerScenario &scenario) {
  Result<WorkerSimulation> result = runWorkers(scenario);
  EXPECT_TRUE(result) << result.status().message();
  return result ? *result : WorkerSimulation();
}

/// Random workers, links and jitter.
WorkerScenario randomWorkers(std::mt19937_64 &random, const Consistency &consistency) {
  const auto draw = [&](double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(random);
  };
  std::vector<double> slowdown(2 + random() % 4);
  for (double &factor : slowdown)
    factor = draw(1, 4);
  WorkerScenario scenario = workersOf(std::move(slowdown), consistency);
  scenario.machines.network = problem::LinkRates{.latency = draw(0, 0.1),
                                                 .secondsPerByte = draw(0.1e-9, 4e-9),
                                                 .reduceSecondsPerByte = draw(0, 1e-9)};
  scenario.machines.serverLink = *scenario.machines.network;
  scenario.machines.dedicated = random() % 2 == 0;
  scenario.machines.servers = static_cast<int>(1 + random() % 2);
  scenario.machines.halfDuplex = random() % 4 == 0;
  scenario.bytes = 1'000'000'000;
  scenario.jitter = draw(0, 0.5);
  scenario.seed = random();
  scenario.steps = 100;
  return scenario;
}

} // namespace

// Four workers push 1 GB each through servers that take 1 s for all weights of one, then all read.
TEST(WorkersTest, SspOfZeroTakesTheBlockingSum) {
  WorkerScenario scenario = withLinks(workersOf({1, 1, 1, 1}, {.form = Form::ssp, .staleness = 0}));
  const WorkerSimulation result = run(scenario);
  EXPECT_NEAR(result.stepSeconds(), 10 + 4 + 4, 1e-9);
  EXPECT_NEAR(result.waitingShare(), 8.0 / 18, 1e-9);
  EXPECT_EQ(result.staleness.largest, 0);
  EXPECT_NEAR(result.traffic, 2e9, 1); // whole steps: a push and a read each
  EXPECT_NEAR(result.serverLoad, 4.0 / 18, 1e-9);
}

// Colocated shards: of four workers each sends three quarters, while it takes in the others'.
TEST(WorkersTest, ColocatedServersShareTheWorkersLinks) {
  WorkerScenario scenario = withLinks(workersOf({1, 1, 1, 1}, {.form = Form::ssp, .staleness = 0}));
  scenario.machines.dedicated = false;
  scenario.machines.servers = 0;
  const WorkerSimulation result = run(scenario);
  EXPECT_NEAR(result.stepSeconds(), 10 + 2 * 0.75 * 3, 1e-9);
  EXPECT_NEAR(result.traffic, 4 * 0.75e9, 1);
}

// The first of two workers holds all weights, so only the other one's messages travel.
TEST(WorkersTest, AServerMayBeBesideOneWorker) {
  WorkerScenario scenario = withLinks(workersOf({1, 1}, {.form = Form::ssp, .staleness = 0}));
  scenario.machines.dedicated = false;
  scenario.machines.servers = 1;
  const WorkerSimulation result = run(scenario);
  EXPECT_NEAR(result.stepSeconds(), 10 + 3 + 3, 0.01); // the first one need not read at the end
  EXPECT_NEAR(result.traffic, 2e9, 1e7);
}

TEST(WorkersTest, AspGoesAtTheSumOfTheWorkersRates) {
  const WorkerSimulation result = run(withLinks(workersOf({1, 1.5, 2, 4}, {.form = Form::asp})));
  EXPECT_NEAR(result.stepRate(), (1 + 1 / 1.5 + 1 / 2.0 + 1 / 4.0) / 10, 1e-9);
  EXPECT_NEAR(result.waitingShare(), 0, 1e-9);
  EXPECT_GT(result.largestLead, 500);
}

// Where pushes take longer than steps they set the pace. A courier with two updates reads seldom.
TEST(WorkersTest, AspWaitsForItsCourier) {
  WorkerScenario scenario = withLinks(workersOf({1, 1}, {.form = Form::asp}));
  scenario.machines.network->secondsPerByte = 20e-9;
  const double step = run(scenario).stepSeconds();
  EXPECT_GE(step, 20 - 0.1);
  EXPECT_LE(step, 40);
}

TEST(WorkersTest, SspWithoutABoundIsAsp) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20; ++i) {
    WorkerScenario scenario = randomWorkers(random, {.form = Form::asp});
    const WorkerSimulation asp = run(scenario);
    scenario.consistency = {.form = Form::ssp, .staleness = 1'000'000};
    const WorkerSimulation ssp = run(scenario);
    EXPECT_NEAR(ssp.stepRate() / asp.stepRate(), 1, 0.02); // ssp waits for its grants
  }
}

TEST(WorkersTest, NothingIsOlderThanSspAllows) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 200; ++i) {
    const auto bound = static_cast<std::int64_t>(random() % 6);
    const WorkerSimulation result =
        run(randomWorkers(random, {.form = Form::ssp, .staleness = bound}));
    EXPECT_LE(result.largestLead, bound);
    EXPECT_LE(result.staleness.largest, bound);
  }
}

TEST(WorkersTest, NothingIsOlderThanDsspAllows) {
  std::mt19937_64 random(9);
  int above = 0;
  for (int i = 0; i < 200; ++i) {
    const auto lower = static_cast<std::int64_t>(random() % 4);
    const auto upper = lower + static_cast<std::int64_t>(random() % 10);
    const WorkerSimulation result =
        run(randomWorkers(random, {.form = Form::dssp, .staleness = lower, .upper = upper}));
    EXPECT_LE(result.largestLead, upper);
    EXPECT_LE(result.staleness.largest, upper);
    above += result.largestLead > lower;
  }
  EXPECT_GT(above, 50); // the controller does grant steps
}

// Twelve steps of the slower worker: within its upper bound dssp does not wait, and ssp does.
TEST(WorkersTest, DsspIsAspUntilItsUpperBound) {
  const auto rate = [](std::int64_t steps, const Consistency &consistency) {
    WorkerScenario scenario = workersOf({1, 2}, consistency);
    scenario.steps = steps;
    return run(scenario).stepRate();
  };
  const Consistency dssp{.form = Form::dssp, .staleness = 3, .upper = 15}, asp{.form = Form::asp},
      ssp{.form = Form::ssp, .staleness = 3};
  EXPECT_NEAR(rate(12, dssp), rate(12, asp), 1e-9);
  EXPECT_LT(rate(12, ssp), 0.85 * rate(12, asp));
  // No bounded lead outruns twice the slower worker in the long run.
  EXPECT_NEAR(rate(4000, dssp), 2 / 20.0, 1e-3);
  EXPECT_NEAR(rate(4000, ssp), 2 / 20.0, 1e-3);
  EXPECT_NEAR(rate(4000, asp), 3 / 20.0, 1e-9);
}

// The slow reference: messages by latency alone, two to five workers, few equal times.
TEST(WorkersTest, BoundedFormsEndWhenTheTimeSlicesSay) {
  std::mt19937_64 random(10);
  for (int i = 0; i < 60; ++i) {
    const auto lower = static_cast<std::int64_t>(random() % 4);
    const auto upper = lower + static_cast<std::int64_t>(random() % 9);
    const Consistency consistency =
        i % 2 == 0 ? Consistency{.form = Form::ssp, .staleness = lower}
                   : Consistency{.form = Form::dssp, .staleness = lower, .upper = upper};
    std::vector<std::int64_t> seconds(2 + random() % 4);
    for (std::int64_t &time : seconds)
      time = static_cast<std::int64_t>(1000 + random() % 3000);
    WorkerScenario scenario = workersOf({seconds.begin(), seconds.end()}, consistency);
    scenario.step = 1;
    scenario.machines.network->latency = 7;
    scenario.steps = 40;
    const WorkerSimulation result = run(scenario);
    TimeSlices slices(consistency, seconds, 7);
    EXPECT_NEAR(result.seconds, static_cast<double>(slices.run(scenario.steps)), 1e-6) << i;
    for (std::size_t worker = 0; worker < seconds.size(); ++worker)
      EXPECT_EQ(std::floor(result.steps[worker] + 1e-9), slices.clocks()[worker]) << i;
  }
}

// Three workers of 10 s, each alone between a centre that comes and weights that go, 3 s each.
TEST(WorkersTest, OriginalEasgdWorksInTurns) {
  const WorkerSimulation result =
      run(withLinks(workersOf({1, 1, 1}, {.form = Form::easgd, .elastic = Elastic::original})));
  EXPECT_NEAR(result.stepRate(), 1 / 16.0, 1e-4);
}

// The lock takes 4 s a message, so four workers of 10 s wait for it, and hogwild's do not.
TEST(WorkersTest, EasgdWaitsForTheLockButForHogwild) {
  const auto stepOf = [](Elastic elastic) {
    WorkerScenario scenario =
        withLinks(workersOf({1, 1, 1, 1}, {.form = Form::easgd, .elastic = elastic}));
    scenario.machines.network->secondsPerByte = 0.1e-9;
    scenario.machines.serverLink = {.secondsPerByte = 0.1e-9, .reduceSecondsPerByte = 8e-9};
    return run(scenario).stepSeconds();
  };
  EXPECT_NEAR(stepOf(Elastic::hogwild), 10, 1e-9);
  EXPECT_NEAR(stepOf(Elastic::async), 16, 1.2);
  EXPECT_EQ(stepOf(Elastic::async), stepOf(Elastic::momentum));
}

// An exchange of 6 s: before the step of 10 s, or behind it; one of 11 s shows 1 s.
TEST(WorkersTest, OnlySync3HidesItsExchange) {
  const auto stepOf = [](Elastic elastic, double seconds, std::int64_t period) {
    WorkerScenario scenario =
        workersOf({1, 1, 1}, {.form = Form::easgd, .elastic = elastic, .period = period});
    scenario.exchanges = {seconds};
    return run(scenario).stepSeconds();
  };
  EXPECT_NEAR(stepOf(Elastic::sync2, 6, 1), 16, 0.01); // the last exchange is behind the last step
  EXPECT_NEAR(stepOf(Elastic::sync3, 6, 1), 10, 1e-9);
  EXPECT_NEAR(stepOf(Elastic::sync3, 11, 1), 11, 1e-9);
  EXPECT_NEAR(stepOf(Elastic::sync2, 6, 4), 10 + 6 / 4.0, 0.01);
}

// H steps and one exchange, at the pace of the slowest worker.
TEST(WorkersTest, LocalUpdatesTakeTheFormula) {
  WorkerScenario scenario = workersOf({1, 1, 1}, {.form = Form::local, .period = 8});
  scenario.exchanges = {6};
  scenario.exchangeTraffic = 80;
  WorkerSimulation result = run(scenario);
  EXPECT_NEAR(result.stepSeconds(), 10 + 6 / 8.0, 1e-9);
  EXPECT_EQ(result.traffic, 10);
  EXPECT_EQ(result.staleness.largest, 7);
  EXPECT_NEAR(result.staleness.mean, 3.5, 0.01);
  scenario.machines.slowdown = {1, 2, 1};
  EXPECT_NEAR(run(scenario).stepSeconds(), 20 + 6 / 8.0, 1e-9);
}

// An exchange of 25 s has a delay of two steps of 10 s to hide behind, once in a window of four.
TEST(WorkersTest, DilocoHidesExchangesBehindItsDelay) {
  WorkerScenario scenario =
      workersOf({1, 1}, {.form = Form::diloco, .period = 8, .fragments = 2, .delay = 2});
  scenario.exchanges = {25, 25};
  const WorkerSimulation result = run(scenario);
  EXPECT_NEAR(result.stepSeconds(), 10 + 5 / 4.0, 1e-9);
  EXPECT_EQ(result.staleness.largest, 8 + 2 - 1 + 0);
  scenario.exchanges = {20, 15};
  EXPECT_NEAR(run(scenario).stepSeconds(), 10, 1e-9);
}

TEST(WorkersTest, TheSameScenarioGivesTheSameNumbers) {
  std::mt19937_64 random(11);
  const WorkerScenario scenario = randomWorkers(random, {.form = Form::ssp, .staleness = 2});
  EXPECT_EQ(run(scenario).steps, run(scenario).steps);
  WorkerScenario other = scenario;
  other.seed += 1;
  EXPECT_NE(run(scenario).steps, run(other).steps);
}

TEST(WorkersTest, RefusesWhatIsNoScenario) {
  const auto refused = [](const std::function<void(WorkerScenario &)> &change) {
    WorkerScenario scenario = workersOf({1, 1}, {.form = Form::ssp});
    change(scenario);
    Result<WorkerSimulation> result = runWorkers(scenario);
    return !result && result.status().exitCode() == 1;
  };
  EXPECT_TRUE(refused([](WorkerScenario &s) { s.consistency.staleness = -1; }));
  EXPECT_TRUE(refused(
      [](WorkerScenario &s) { s.consistency = {.form = Form::dssp, .staleness = 3, .upper = 2}; }));
  EXPECT_TRUE(refused([](WorkerScenario &s) { s.step = 0; }));
  EXPECT_TRUE(refused([](WorkerScenario &s) { s.jitter = 1; }));
  EXPECT_TRUE(refused([](WorkerScenario &s) { s.machines.network.reset(); }));
  EXPECT_TRUE(refused([](WorkerScenario &s) { s.machines.slowdown = {1, 1e6}; }));
  EXPECT_TRUE(refused([](WorkerScenario &s) { s.steps = 1'000'000'000; }));
  EXPECT_TRUE(refused([](WorkerScenario &s) {
    s.consistency = {.form = Form::local, .period = 4};
    s.exchanges.clear();
  }));
}
