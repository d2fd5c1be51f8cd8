// Whole runs whose weights travel by servers, as processes: numbers, stops and lost ranks.
#include "Crew.h"
#include "ServedPlan.h"
#include "tests/support/Depth.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>

namespace syncline {
namespace {

using namespace syncline::testing;
using namespace syncline::testing::forms;
using test::repeat;

/// The parameter w after a step.
std::vector<float> weightsOf(const TemporaryFolder &files, int rank, int step) {
  const std::string file = readFile(
      files.file(dumpOf(rank) + "/step" + std::to_string(step) + "/parameters/fc%2Fw.npy"));
  std::vector<float> values(12);
  EXPECT_EQ(file.size(), 128 + 48u);
  std::memcpy(values.data(), file.data() + file.size() - 48, 48);
  return values;
}

// SSP without staleness is BSP, with momentum and weight decay, over either kind of server. A dump
// has a rank's own weights, to which only its own last step has been added: the ranks' steps
// together, from BSP's weights before, lead to BSP's weights after.
TEST(ServedWeights, SspWithoutStalenessIsBsp) {
  const auto train = [](const TinyPlan &plan, const TemporaryFolder &files) {
    return runToEnd({plan.folder(), "--steps", "6", "--momentum", "0.9", "--lr", "0.1",
                     "--weight-decay", "0.01", "--dump", files.file("d"), "--dump-steps", "4,5"});
  };
  TinyPlan bsp(3, 5);
  TemporaryFolder plain;
  const Outcome summed = train(bsp, plain);
  ASSERT_EQ(summed.code, 0) << summed.output;
  const std::vector<float> before = weightsOf(plain, 0, 4), after = weightsOf(plain, 0, 5);
  for (int servers : {0, 1, 2}) {
    ServedPlan plan(3, servers, forms::ssp0);
    TemporaryFolder files;
    const Outcome served = train(plan, files);
    ASSERT_EQ(served.code, 0) << served.output;
    std::vector<float> sum = before;
    for (int rank = 0; rank < 3; ++rank)
      for (std::size_t i = 0; i < sum.size(); ++i)
        sum[i] += weightsOf(files, rank, 5)[i] - before[i];
    for (std::size_t i = 0; i < sum.size(); ++i)
      EXPECT_NEAR(sum[i], after[i], 1e-6) << servers << " servers";
  }
}

class EveryForm : public ::testing::TestWithParam<Json> {};

// Every form trains to the end over colocated and dedicated servers, and says how far its ranks
// drifted apart. Its loss falls.
TEST_P(EveryForm, Trains) {
  for (int servers : {0, 1, 2}) {
    ServedPlan plan(3, servers, GetParam());
    const Outcome run = runToEnd(
        {plan.folder(), "--steps", "101", "--lr", "0.1", "--momentum", "0.5", "--log", "json"});
    ASSERT_EQ(run.code, 0) << run.output;
    const Json summary = summaryOf(run.output);
    EXPECT_LT(summary["loss"].get<double>(), 0.7);
    EXPECT_GT(summary["samples_per_second"].get<double>(), 0);
    const std::int64_t bound = GetParam().value("upper", GetParam().value("staleness", 1000));
    EXPECT_LE(summary["largest_lead"].get<std::int64_t>(), bound);
    EXPECT_LE(summary["largest_staleness"].get<std::int64_t>(), bound);
    EXPECT_GE(summary["waiting_seconds"].get<double>(), 0);
    EXPECT_FALSE(summary.contains("lost_ranks"));
  }
}

// A signal to one rank stops all of them, which save and report as at the end of a run.
TEST_P(EveryForm, Stops) {
  for (int servers : {0, 2}) {
    ServedPlan plan(2, servers, GetParam());
    Crew run(plan, 2, servers, {"--steps", "1000000000", "--lr", "0.001"});
    run.processes[0]->waitForOutput("\"step\":20,");
    run.processes[1]->signal(SIGTERM);
    for (std::size_t rank = 0; rank < 2; ++rank) {
      EXPECT_EQ(run.processes[rank]->wait(), 128 + SIGTERM) << run.processes[rank]->output();
    }
    EXPECT_EQ(summaryOf(run.processes[0]->output())["stopped_by_signal"], SIGTERM);
    for (std::size_t rank = 2; rank < run.processes.size(); ++rank) {
      const int code = run.processes[rank]->wait();
      EXPECT_TRUE(code == 0 || code == 128 + SIGTERM) << run.processes[rank]->output();
    }
  }
}

// A value that is not finite ends the run with its rank and its cause.
TEST_P(EveryForm, NamesWhatIsNotFinite) {
  ServedPlan plan(2, 1, GetParam());
  const Outcome run = runToEnd({plan.folder(), "--steps", "1000000", "--lr", "1e30",
                                "--weight-decay", "1e30", "--momentum", "0.9"});
  EXPECT_EQ(run.code, 1) << run.output;
  EXPECT_NE(run.output.find("is not finite"), std::string::npos) << run.output;
}

INSTANTIATE_TEST_SUITE_P(Forms, EveryForm, ::testing::ValuesIn(forms::served),
                         [](const auto &info) { return nameOf(info.param); });

// Where nobody waits for a worker in particular, the others go on without one that is killed, and
// say so; elsewhere all are told who it was.
TEST_P(EveryForm, LosesWorker) {
  ServedPlan plan(3, 2, GetParam());
  plan.slowDown(0.001, /*held=*/25);
  Crew run(plan, 3, 2, {"--steps", "400", "--lr", "0.001", "--timeout", "100000"});
  run.processes[0]->waitForOutput("\"step\":20,");
  run.processes[2]->signal(SIGKILL);
  plan.letGo();
  if (!isAsynchronous(GetParam()))
    return run.expectNamed(2);
  for (std::size_t rank : {0, 1, 3, 4})
    EXPECT_EQ(run.processes[rank]->wait(), 0) << run.processes[rank]->output();
  const std::string output = run.processes[0]->output();
  EXPECT_NE(output.find("lost rank 2 (its process ended); training goes on without it"),
            std::string::npos)
      << output;
  EXPECT_EQ(summaryOf(output)["lost_ranks"], Json::array({2}));
}

// A process that is started in the place of a lost worker is turned away at once and told why. The
// others do not notice.
TEST(ServedWeights, TurnsAwayWhoComesTooLate) {
  ServedPlan plan(3, 1, asp);
  Crew run(plan, 3, 1, {"--steps", "1000000000", "--lr", "0.001", "--timeout", "100000"});
  run.processes[0]->waitForOutput("\"step\":20,");
  run.processes[2]->signal(SIGKILL);
  run.processes[0]->waitForOutput("training goes on without it");
  const std::unique_ptr<Process> late = run.start(2);
  EXPECT_EQ(late->wait(), 1);
  EXPECT_EQ(late->output(), "syncline-run: error: the run has lost rank 2 (its process ended) and "
                            "goes on without it; no other process can take its place\n");
  run.processes[1]->signal(SIGTERM);
  for (std::size_t rank : {0, 1})
    EXPECT_EQ(run.processes[rank]->wait(), 128 + SIGTERM) << run.processes[rank]->output();
  EXPECT_EQ(summaryOf(run.processes[0]->output())["lost_ranks"], Json::array({2}));
}

// A rank that never comes is named by those who are there, within the limit.
TEST_P(EveryForm, NamesWhoDoesNotCome) {
  // The forms share the way in which ranks meet, so that a short run has each with one of them.
  const auto form = std::ranges::find(forms::served, GetParam()) - forms::served.begin();
  const int count = repeat(1, 3);
  for (int i = 0; i < count; ++i) {
    const int missing = 1 + static_cast<int>(form + i) % 3;
    ServedPlan plan(2, 2, GetParam());
    Crew run(plan, 2, 2, {"--steps", "10", "--start-timeout", "4"}, missing);
    run.expectOutput(missing, "no sign in time of " + run.nameOf(missing));
  }
}

// A worker that stands still is named, or given up once the others have nothing else to do.
TEST_P(EveryForm, GivesStuckWorkerUp) {
  ServedPlan plan(3, 1, GetParam());
  plan.slowDown(0.001, /*held=*/25);
  Crew run(plan, 3, 1, {"--steps", "200", "--lr", "0.001", "--timeout", "3"});
  run.processes[0]->waitForOutput("\"step\":20,");
  run.processes[1]->stop();
  plan.letGo();
  if (!isAsynchronous(GetParam()))
    return run.expectNamed(1);
  for (std::size_t rank : {0, 2, 3})
    EXPECT_EQ(run.processes[rank]->wait(), 0) << run.processes[rank]->output();
  EXPECT_EQ(summaryOf(run.processes[0]->output())["lost_ranks"], Json::array({1}));
}

// Rank 0 and servers are needed in every form.
TEST_P(EveryForm, NeedsRankZeroAndServers) {
  for (const int victim : {0, 2, 3}) {
    ServedPlan plan(2, 2, GetParam());
    Crew run(plan, 2, 2, {"--steps", "1000000000", "--lr", "0.001", "--timeout", "100000"});
    run.processes[0]->waitForOutput("\"step\":20,");
    run.processes[victim]->signal(SIGKILL);
    run.expectNamed(victim);
  }
}

// Without dedicated servers every worker holds a part of the weights.
TEST(ServedWeights, ColocatedServersAreNeeded) {
  ServedPlan plan(3, 0, asp);
  Crew run(plan, 3, 0, {"--steps", "1000000000", "--lr", "0.001", "--timeout", "100000"});
  run.processes[0]->waitForOutput("\"step\":20,");
  run.processes[1]->signal(SIGKILL);
  run.expectNamed(1);
}

// The launcher of local ranks goes on without a worker too.
TEST(ServedWeights, LauncherSparesWorkers) {
  ServedPlan plan(3, 1, asp);
  plan.slowDown(0.001, /*held=*/25);
  Process run({plan.folder(), "--steps", "400", "--lr", "0.001", "--log", "json"});
  run.waitForOutput("\"step\":20,");
  const std::vector<int> ids = run.children();
  ASSERT_EQ(ids.size(), 4u);
  ASSERT_EQ(kill(ids[1], SIGKILL), 0);
  plan.letGo();
  EXPECT_EQ(run.wait(), 0) << run.output();
  EXPECT_EQ(summaryOf(run.output())["lost_ranks"], Json::array({1}));
}

} // namespace
} // namespace syncline
