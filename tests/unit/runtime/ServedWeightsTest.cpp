// Whole runs whose weights travel by servers, as processes: numbers, stops and lost ranks.
#include "Processes.h"
#include "ServedPlan.h"

#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <memory>
#include <random>
#include <sstream>
#include <thread>

namespace syncline {
namespace {

using namespace syncline::testing;
using Json = nlohmann::json;

const Json ssp{{"form", "ssp"}, {"staleness", 2}}, asp{{"form", "asp"}},
    dssp{{"form", "dssp"}, {"lower", 1}, {"upper", 3}};

Json easgd(const char *variant) {
  return {{"form", "easgd"}, {"variant", variant}, {"rho", 0.5}, {"period", 2}};
}

const std::vector<Json> forms{{{"form", "ssp"}, {"staleness", 0}},
                              ssp,
                              asp,
                              dssp,
                              easgd("original"),
                              easgd("async"),
                              easgd("momentum"),
                              easgd("hogwild")};

std::string nameOf(const Json &form) {
  std::string name = form["form"];
  for (const char *key : {"variant", "staleness", "upper"})
    if (form.contains(key))
      name += "_" + (form[key].is_string() ? form[key].get<std::string>() : form[key].dump());
  return name;
}

/// Workers and servers, each a process started by itself.
struct Crew {
  Crew(const TinyPlan &plan, int workers, int servers, const std::vector<std::string> &more) {
    const std::string size = std::to_string(workers + servers), port = std::to_string(freePort());
    for (int rank = 0; rank < workers + servers; ++rank) {
      std::vector<std::string> arguments{
          plan.folder(), "--rank", std::to_string(rank), "--ranks", size, "--master-port", port,
          "--log",       "json",   "--momentum",         "0.5"};
      arguments.insert(arguments.end(), more.begin(), more.end());
      processes.push_back(std::make_unique<Process>(arguments));
    }
  }

  /// All but the victim end within `seconds`, by its name.
  void expectNamed(std::size_t victim, const std::string &name, double seconds) {
    for (std::size_t r = 0; r < processes.size(); ++r) {
      if (r == victim)
        continue;
      EXPECT_EQ(processes[r]->wait(seconds), 1);
      const std::string output = processes[r]->output();
      EXPECT_NE(output.find("lost " + name + " "), std::string::npos) << "rank " << r << output;
    }
  }

  std::vector<std::unique_ptr<Process>> processes;
};

/// The summary's line among a run's output.
Json summaryOf(const std::string &output) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("{\"summary\""))
      return Json::parse(line);
  ADD_FAILURE() << "no summary in: " << output;
  return {};
}

/// The parameter w after a step.
std::vector<float> weightsOf(const TemporaryFolder &files, int rank, int step) {
  const std::string file = readFile(files.file("d/rank" + std::to_string(rank) + "/step" +
                                               std::to_string(step) + "/parameters/fc%2Fw.npy"));
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
                     "--weight-decay", "0.01", "--dump", files.file("d"), "--dump-steps", "4,5",
                     "--dump-all-ranks"});
  };
  TinyPlan bsp(3, 5);
  TemporaryFolder plain;
  const Outcome summed = train(bsp, plain);
  ASSERT_EQ(summed.code, 0) << summed.output;
  const std::vector<float> before = weightsOf(plain, 0, 4), after = weightsOf(plain, 0, 5);
  for (int servers : {0, 1, 2}) {
    ServedPlan plan(3, servers, forms[0]);
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
    run.processes[0]->waitForOutput("\"step\":20,", 20);
    run.processes[1]->signal(SIGTERM);
    for (std::size_t rank = 0; rank < 2; ++rank) {
      EXPECT_EQ(run.processes[rank]->wait(20), 128 + SIGTERM) << run.processes[rank]->output();
    }
    EXPECT_EQ(summaryOf(run.processes[0]->output())["stopped_by_signal"], SIGTERM);
    for (std::size_t rank = 2; rank < run.processes.size(); ++rank) {
      const int code = run.processes[rank]->wait(20);
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

INSTANTIATE_TEST_SUITE_P(Forms, EveryForm, ::testing::ValuesIn(forms),
                         [](const auto &info) { return nameOf(info.param); });

bool isAsynchronous(const Json &form) {
  return form["form"] == "asp" || (form["form"] == "easgd" && form["variant"] != "original");
}

// Where nobody waits for a worker in particular, the others go on without one that is killed, and
// say so; elsewhere all are told who it was.
TEST_P(EveryForm, LosesWorker) {
  ServedPlan plan(3, 2, GetParam());
  plan.slowDown(0.005);
  Crew run(plan, 3, 2, {"--steps", "400", "--lr", "0.001"});
  run.processes[0]->waitForOutput("\"step\":20,", 20);
  run.processes[2]->signal(SIGKILL);
  if (!isAsynchronous(GetParam()))
    return run.expectNamed(2, "rank 2", 10);
  for (std::size_t rank : {0, 1, 3, 4})
    EXPECT_EQ(run.processes[rank]->wait(30), 0) << run.processes[rank]->output();
  const std::string output = run.processes[0]->output();
  EXPECT_NE(output.find("lost rank 2 (its process ended); training goes on without it"),
            std::string::npos)
      << output;
  EXPECT_EQ(summaryOf(output)["lost_ranks"], Json::array({2}));
}

// A worker that stands still is named, or given up once the others have nothing else to do.
TEST_P(EveryForm, GivesStuckWorkerUp) {
  ServedPlan plan(3, 1, GetParam());
  plan.slowDown(0.002);
  Crew run(plan, 3, 1, {"--steps", "200", "--lr", "0.001", "--timeout", "2"});
  run.processes[0]->waitForOutput("\"step\":20,", 20);
  run.processes[1]->signal(SIGSTOP);
  if (!isAsynchronous(GetParam()))
    return run.expectNamed(1, "rank 1", 20);
  for (std::size_t rank : {0, 2, 3})
    EXPECT_EQ(run.processes[rank]->wait(30), 0) << run.processes[rank]->output();
  EXPECT_EQ(summaryOf(run.processes[0]->output())["lost_ranks"], Json::array({1}));
}

// Rank 0 and servers are needed in every form.
TEST_P(EveryForm, NeedsRankZeroAndServers) {
  for (const auto &[victim, name] : {std::pair{0, "rank 0"}, std::pair{2, "server 0 (rank 2)"},
                                     std::pair{3, "server 1 (rank 3)"}}) {
    ServedPlan plan(2, 2, GetParam());
    Crew run(plan, 2, 2, {"--steps", "1000000000", "--lr", "0.001"});
    run.processes[0]->waitForOutput("\"step\":20,", 20);
    run.processes[victim]->signal(SIGKILL);
    run.expectNamed(victim, name, 10);
  }
}

// Without dedicated servers every worker holds a part of the weights.
TEST(ServedWeights, ColocatedServersAreNeeded) {
  ServedPlan plan(3, 0, asp);
  Crew run(plan, 3, 0, {"--steps", "1000000000", "--lr", "0.001"});
  run.processes[0]->waitForOutput("\"step\":20,", 20);
  run.processes[1]->signal(SIGKILL);
  run.expectNamed(1, "rank 1", 10);
}

// Nothing hangs, whoever is killed and whenever.
TEST(ServedWeights, RandomKills) {
  std::mt19937 random(3);
  for (int i = 0; i < 16; ++i) {
    const Json &form = forms[i % forms.size()];
    const int servers = static_cast<int>(random() % 3), workers = 3;
    ServedPlan plan(workers, servers, form);
    Crew run(plan, workers, servers,
             {"--steps", "1500", "--lr", "0.001", "--timeout", "5", "--start-timeout", "20"});
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 1500));
    const std::size_t victim = random() % run.processes.size();
    run.processes[victim]->signal(SIGKILL);
    for (std::size_t rank = 0; rank < run.processes.size(); ++rank)
      if (rank != victim) {
        const int code = run.processes[rank]->wait(40);
        EXPECT_TRUE(code == 0 || code == 1)
            << nameOf(form) << ", rank " << victim << " of " << run.processes.size()
            << " killed: " << code << " " << run.processes[rank]->output();
      }
  }
}

// The launcher of local ranks goes on without a worker too.
TEST(ServedWeights, LauncherSparesWorkers) {
  ServedPlan plan(3, 1, asp);
  plan.slowDown(0.005);
  Process run({plan.folder(), "--steps", "400", "--lr", "0.001", "--log", "json"});
  run.waitForOutput("\"step\":20,", 20);
  std::ifstream children("/proc/" + std::to_string(run.id()) + "/task/" + std::to_string(run.id()) +
                         "/children");
  std::vector<int> ids{std::istream_iterator<int>(children), {}};
  ASSERT_EQ(ids.size(), 4u);
  ASSERT_EQ(kill(ids[1], SIGKILL), 0);
  EXPECT_EQ(run.wait(30), 0) << run.output();
  EXPECT_EQ(summaryOf(run.output())["lost_ranks"], Json::array({1}));
}

} // namespace
} // namespace syncline
