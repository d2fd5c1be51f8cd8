// Dead, stuck and disagreeing ranks, as processes: every rank ends in time and says who it was.
// Where a rank's end must be noticed by itself, the time limit is longer than any test.
#include "Processes.h"
#include "TinyPlan.h"

#include <algorithm>
#include <csignal>
#include <gtest/gtest.h>
#include <memory>
#include <thread>

namespace syncline {
namespace {

using namespace syncline::testing;

/// Ranks as processes of their own, as on several hosts.
struct Ranks {
  std::vector<std::unique_ptr<Process>> processes;
  int port = freePort();

  void start(const TinyPlan &plan, int rank, int ranks, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{
        plan.folder(), "--rank", std::to_string(rank), "--ranks", std::to_string(ranks),
        "--log",       "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    processes.push_back(std::make_unique<Process>(arguments, meetingAt(port)));
  }
  Process &operator[](int rank) { return *processes[rank]; }
};

void expectNamed(Process &process, int lost) {
  EXPECT_EQ(process.wait(), 1);
  std::string output = process.output();
  output = output.substr(std::min(output.size(), output.find("syncline-run: error")));
  EXPECT_NE(output.find("lost rank " + std::to_string(lost) + " "), std::string::npos) << output;
  EXPECT_TRUE(output.find("in the all-reduce of ") != std::string::npos ||
              output.find("in the all-gather of ") != std::string::npos ||
              output.find("in the reduce-scatter of ") != std::string::npos)
      << output;
  EXPECT_NE(output.find("last completed step "), std::string::npos) << output;
}

struct FaultCase {
  int victim;
  std::string scheme;
};

class Fault : public ::testing::TestWithParam<FaultCase> {};

// A rank killed with SIGKILL, whichever it is, ends all others before the time limit, by its name.
TEST_P(Fault, KilledRankIsNamed) {
  const auto &[victim, scheme] = GetParam();
  TinyPlan plan(4, 8, "", scheme);
  Ranks ranks;
  for (int r = 0; r < 4; ++r)
    ranks.start(plan, r, 4, {"--steps", "1000000000", "--timeout", "100000"});
  ranks[0].waitForOutput("\"step\":20,");
  ranks[victim].signal(SIGKILL);
  for (int r = 0; r < 4; ++r)
    if (r != victim)
      expectNamed(ranks[r], victim);
}

// A rank stopped with SIGSTOP is named once the time limit has passed.
TEST_P(Fault, StuckRankIsNamed) {
  const auto &[victim, scheme] = GetParam();
  TinyPlan plan(4, 8, "", scheme);
  Ranks ranks;
  for (int r = 0; r < 4; ++r)
    ranks.start(plan, r, 4, {"--steps", "1000000000", "--timeout", "3"});
  ranks[0].waitForOutput("\"step\":20,");
  ranks[victim].signal(SIGSTOP);
  for (int r = 0; r < 4; ++r)
    if (r != victim)
      expectNamed(ranks[r], victim);
}
INSTANTIATE_TEST_SUITE_P(Victims, Fault,
                         ::testing::Values(FaultCase{0, "ring"}, FaultCase{1, "ring"},
                                           FaultCase{3, "ring"}, FaultCase{2, "halving-doubling"},
                                           FaultCase{3, "tree"}, FaultCase{1, "parameter-server"},
                                           FaultCase{2, "factors"}, FaultCase{1, "reduce-scatter"}),
                         [](const auto &info) {
                           std::string name = info.param.scheme;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name + "_" + std::to_string(info.param.victim);
                         });

// Ranks that hold different plans all end with exit code 1 and the same message.
TEST(Faults, DifferentPlans) {
  TinyPlan plan(3), other(3);
  other.json["name"] = "other";
  other.seal();
  Ranks ranks;
  for (int r = 0; r < 3; ++r)
    ranks.start(r == 1 ? other : plan, r, 3);
  for (int r = 0; r < 3; ++r) {
    EXPECT_EQ(ranks[r].wait(), 1);
    EXPECT_NE(ranks[r].output().find("the ranks differ in their plan: "), std::string::npos)
        << ranks[r].output();
    EXPECT_NE(ranks[r].output().find("rank 1 '"), std::string::npos) << ranks[r].output();
    EXPECT_NE(ranks[r].output().find("ranks 0, 2 '"), std::string::npos) << ranks[r].output();
  }
}

// A rank that does not start is named by those that did.
TEST(Faults, RankThatNeverStarts) {
  TinyPlan plan(3);
  Ranks ranks;
  ranks.start(plan, 0, 3, {"--start-timeout", "4"});
  ranks.start(plan, 1, 3, {"--start-timeout", "4"});
  for (int r = 0; r < 2; ++r) {
    EXPECT_EQ(ranks[r].wait(), 1);
    EXPECT_NE(ranks[r].output().find("no sign in time of rank 2"), std::string::npos)
        << ranks[r].output();
  }
}

// A rank that ends while others have done their part of the evaluation is missed there.
TEST(Faults, LostDuringEvaluation) {
  TinyPlan plan(2);
  plan.slowDown(0, /*held=*/0);
  TemporaryFolder data;
  std::string x, y;
  for (int i = 0; i < 16; ++i) {
    x += "1,2,3,4\n";
    y += "1\n";
  }
  writeFile(data.file("x.csv"), x);
  writeFile(data.file("y.csv"), y);
  const std::string samples = data.file("x.csv") + "," + data.file("y.csv");
  Ranks ranks;
  for (int r = 0; r < 2; ++r)
    ranks.start(plan, r, 2, {"--steps", "0", "--eval", samples, "--timeout", "100000"});
  ranks[1].waitForOutput("forward");
  ranks[1].stop();
  plan.letGo();
  // Rank 0 mostly waits for rank 1 by then. It ends in the same way where it still computes.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  ranks[1].signal(SIGKILL);
  EXPECT_EQ(ranks[0].wait(), 1);
  EXPECT_NE(ranks[0].output().find("lost rank 1 (its process ended) during evaluation"),
            std::string::npos)
      << ranks[0].output();
}

// A rank whose own files are bad tells the others what is wrong.
TEST(Faults, OneRankFails) {
  TinyPlan plan(2);
  Ranks ranks;
  ranks.start(plan, 0, 2, {"--data", "/nowhere/x.npy,/nowhere/y.npy"});
  ranks.start(plan, 1, 2, {"--data", "/nowhere/x.npy,/nowhere/y.npy"});
  for (int r = 0; r < 2; ++r) {
    EXPECT_EQ(ranks[r].wait(), 1);
    EXPECT_NE(ranks[r].output().find("'/nowhere/x.npy': cannot open"), std::string::npos)
        << ranks[r].output();
  }
}

// Local ranks: one that is killed ends the run with its name; nothing stays behind.
TEST(Faults, LauncherNamesTheKilledRank) {
  TinyPlan plan(3);
  Process launcher(
      {plan.folder(), "-n", "3", "--steps", "1000000000", "--log", "json", "--timeout", "100000"});
  launcher.waitForOutput("\"step\":20,");
  const std::vector<int> pids = launcher.children();
  ASSERT_EQ(pids.size(), 3u);
  kill(pids[2], SIGKILL);
  EXPECT_EQ(launcher.wait(), 1);
  EXPECT_NE(launcher.output().find("rank 2 was killed by signal 9"), std::string::npos);
  EXPECT_NE(launcher.output().find("lost rank 2 (its process ended)"), std::string::npos);
  for (int pid : pids)
    EXPECT_NE(kill(pid, 0), 0) << "rank " << pid << " is still there";
}

// Interrupting the launcher ends all ranks.
TEST(Faults, InterruptEndsAllRanks) {
  TinyPlan plan(2);
  Process launcher({plan.folder(), "-n", "2", "--steps", "1000000000", "--log", "json"});
  launcher.waitForOutput("\"step\":5,");
  launcher.signal(SIGINT);
  EXPECT_EQ(launcher.wait(), 128 + SIGINT);
}

} // namespace
} // namespace syncline
