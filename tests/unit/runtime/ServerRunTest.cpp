// Whole runs with dedicated servers, as processes: numbers, and what happens when one is lost.
#include "Processes.h"
#include "TinyPlan.h"

#include <cmath>
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>

namespace syncline {
namespace {

using namespace syncline::testing;

constexpr const char *scheme = "parameter-server";

std::vector<std::string> trainAndDump(const TinyPlan &plan, const TemporaryFolder &files) {
  return {plan.folder(),   "--steps",      "4", "--momentum",      "0.9", "--dump",
          files.file("d"), "--dump-steps", "3", "--dump-all-ranks"};
}

std::string weightsOf(const TemporaryFolder &files, int rank) {
  return readFile(files.file("d/rank" + std::to_string(rank) + "/step3/parameters/fc%2Fw.npy"));
}

/// Workers and servers, each a process started by itself.
struct Crew {
  Crew(const TinyPlan &plan, int workers, int servers, const std::vector<std::string> &more = {}) {
    const std::string size = std::to_string(workers + servers), port = std::to_string(freePort());
    for (int rank = 0; rank < workers + servers; ++rank) {
      std::vector<std::string> arguments{plan.folder(), "--rank", std::to_string(rank),
                                         "--ranks",     size,     "--master-port",
                                         port,          "--log",  "json"};
      arguments.insert(arguments.end(), more.begin(), more.end());
      processes.push_back(std::make_unique<Process>(arguments));
    }
  }
  std::vector<std::unique_ptr<Process>> processes;
};

/// All but the victim end within `seconds`, by its name and with bucket and step.
void expectNamed(Crew &run, std::size_t victim, const std::string &name, double seconds) {
  for (std::size_t r = 0; r < run.processes.size(); ++r) {
    if (r == victim)
      continue;
    EXPECT_EQ(run.processes[r]->wait(seconds), 1);
    std::string output = run.processes[r]->output();
    output = output.substr(std::min(output.size(), output.find("syncline-run: error")));
    EXPECT_NE(output.find("lost " + name + " "), std::string::npos) << "rank " << r << output;
    EXPECT_NE(output.find("last completed step "), std::string::npos) << "rank " << r << output;
  }
}

// Servers give what colocated ones do; the launcher starts them without being asked; all workers
// hold the same bits.
TEST(ServerRun, TrainsAsColocatedServersDo) {
  TinyPlan colocated(3, 5, "", scheme), dedicated(3, 5, "", scheme, 2);
  TemporaryFolder there, here;
  Outcome plain = runToEnd(trainAndDump(colocated, there));
  ASSERT_EQ(plain.code, 0) << plain.output;
  std::vector<std::string> words = trainAndDump(dedicated, here);
  words.insert(words.end(), {"-n", "3"});
  Outcome served = runToEnd(words);
  ASSERT_EQ(served.code, 0) << served.output;
  const std::string wanted = weightsOf(there, 0), found = weightsOf(here, 0);
  ASSERT_EQ(found.size(), 128 + 48u);
  EXPECT_EQ(found, weightsOf(here, 1));
  EXPECT_EQ(found, weightsOf(here, 2));
  EXPECT_FALSE(std::filesystem::exists(here.file("d/rank3")));
  for (std::size_t at = 128; at < found.size(); at += 4) {
    float a, b;
    std::memcpy(&a, found.data() + at, 4);
    std::memcpy(&b, wanted.data() + at, 4);
    EXPECT_NEAR(a, b, 1e-6);
  }
}

// A lone worker has servers too, and a plan may have servers that serve nothing.
TEST(ServerRun, NothingToServe) {
  TinyPlan lone(1, 8, "", scheme, 1), idle(2, 8, "", "ring", 1);
  for (const TinyPlan *plan : {&lone, &idle}) {
    Outcome run = runToEnd({plan->folder(), "--servers", "1", "--steps", "3"});
    EXPECT_EQ(run.code, 0) << run.output;
  }
}

// A server needs neither step.so's interface nor data, and waits for workers that take their time
// beyond the time limit: it is theirs to say who is late.
TEST(ServerRun, WaitsForSlowWorkers) {
  TinyPlan plan(2, 8, "", scheme, 1);
  std::string source = readFile(plan.file("step.cpp"));
  source.replace(source.find("extern \"C\" void"), 0, R"(
#include <unistd.h>
static void slow(void *const *, const void *const *, std::int64_t, void *) { usleep(1500000); }
)");
  const std::string phase = "s.phase(\"forward\");";
  source.insert(source.find(phase) + phase.size(),
                "s.pointwise(\"slow\", slow, std::span<const Tensor>(&x, 1), "
                "std::span<const Tensor>(&y, 1), {.flat = false});");
  writeFile(plan.file("step.cpp"), source);
  const std::string compile = "c++ -std=c++20 -shared -fPIC -I" SYNCLINE_INCLUDE " -o " +
                              plan.file("step.so") + " " + plan.file("step.cpp");
  ASSERT_EQ(std::system(compile.c_str()), 0);
  plan.seal();
  Outcome run = runToEnd({plan.folder(), "--steps", "2", "--timeout", "1"});
  EXPECT_EQ(run.code, 0) << run.output;
}

struct Loss {
  int victim;
  std::string name;
};
class LostParticipant : public ::testing::TestWithParam<Loss> {};

// Whoever is killed, all others end within seconds by its name, servers among them.
TEST_P(LostParticipant, KilledIsNamed) {
  const auto &[victim, name] = GetParam();
  TinyPlan plan(3, 8, "", scheme, 2);
  Crew run(plan, 3, 2, {"--steps", "1000000000"});
  run.processes[0]->waitForOutput("\"step\":20,", 20);
  run.processes[victim]->signal(SIGKILL);
  expectNamed(run, victim, name, 6);
}

// Whoever stands still is named once the time limit has passed.
TEST_P(LostParticipant, StuckIsNamed) {
  const auto &[victim, name] = GetParam();
  TinyPlan plan(3, 8, "", scheme, 2);
  Crew run(plan, 3, 2, {"--steps", "1000000000", "--timeout", "2"});
  run.processes[0]->waitForOutput("\"step\":20,", 20);
  run.processes[victim]->signal(SIGSTOP);
  expectNamed(run, victim, name, 20);
}
INSTANTIATE_TEST_SUITE_P(Victims, LostParticipant,
                         ::testing::Values(Loss{0, "rank 0"}, Loss{2, "rank 2"},
                                           Loss{4, "server 1 (rank 4)"}),
                         [](const auto &info) {
                           return "rank" + std::to_string(info.param.victim);
                         });

// A server that does not start is named by those that did, and a server names workers.
TEST(ServerRun, MissingServer) {
  TinyPlan plan(2, 8, "", scheme, 2);
  Crew run(plan, 2, 2, {"--start-timeout", "2"});
  run.processes[3]->signal(SIGKILL);
  for (int r : {0, 1, 2}) {
    EXPECT_EQ(run.processes[r]->wait(20), 1);
    EXPECT_NE(run.processes[r]->output().find("server 1 (rank 3)"), std::string::npos)
        << run.processes[r]->output();
  }
}

// A server with another plan is found out like any rank.
TEST(ServerRun, DifferentPlan) {
  TinyPlan plan(2, 8, "", scheme, 1), other(2, 8, "", scheme, 1);
  other.json["name"] = "other";
  other.seal();
  const std::string port = std::to_string(freePort());
  std::vector<std::unique_ptr<Process>> ranks;
  for (int r = 0; r < 3; ++r)
    ranks.push_back(std::make_unique<Process>(
        std::vector<std::string>{(r == 2 ? other : plan).folder(), "--rank", std::to_string(r),
                                 "--ranks", "3", "--master-port", port}));
  for (auto &rank : ranks) {
    EXPECT_EQ(rank->wait(10), 1);
    EXPECT_NE(rank->output().find("the ranks differ in their plan: "), std::string::npos);
    EXPECT_NE(rank->output().find("server 0 (rank 2) '"), std::string::npos) << rank->output();
  }
}

// plan.json and step.so must issue the same buckets in the same order, or sums would mix.
TEST(ServerRun, BucketsOfAnotherLength) {
  TinyPlan plan(2, 8, "", scheme, 1);
  plan.json["buckets"][1]["extent"] = 128;
  plan.seal();
  Outcome run = runToEnd({plan.folder(), "--steps", "1"});
  EXPECT_EQ(run.code, 1);
  EXPECT_NE(run.output.find("plan.json and step.so differ in bucket 1"), std::string::npos)
      << run.output;
}

} // namespace
} // namespace syncline
