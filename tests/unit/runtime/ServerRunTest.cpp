// Whole runs with dedicated servers, as processes: numbers, and what happens when one is lost.
#include "Processes.h"
#include "TinyPlan.h"

#include "runtime/run/ServerRun.h"
#include "runtime/transport/StoreServer.h"
#include "tests/support/Depth.h"
#include "tests/support/Patience.h"

#include <cmath>
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <latch>
#include <memory>
#include <sys/resource.h>
#include <thread>

namespace syncline {
namespace {

using namespace core;
using namespace transport;
using namespace syncline::testing;
using test::patience;

constexpr const char *scheme = "parameter-server";

std::vector<std::string> trainAndDump(const TinyPlan &plan, const TemporaryFolder &files) {
  return {plan.folder(),   "--steps",      "4", "--momentum", "0.9", "--dump",
          files.file("d"), "--dump-steps", "3"};
}

std::string weightsOf(const TemporaryFolder &files, int rank) {
  return readFile(files.file(dumpOf(rank) + "/step3/parameters/fc%2Fw.npy"));
}

/// Workers and servers, each a process started by itself.
struct ServedRun {
  ServedRun(const TinyPlan &plan, int workers, int servers,
            const std::vector<std::string> &more = {}) {
    const std::string size = std::to_string(workers + servers);
    const int port = freePort();
    for (int rank = 0; rank < workers + servers; ++rank) {
      std::vector<std::string> arguments{
          plan.folder(), "--rank", std::to_string(rank), "--ranks", size, "--log", "json"};
      arguments.insert(arguments.end(), more.begin(), more.end());
      processes.push_back(std::make_unique<Process>(arguments, meetingAt(port)));
    }
  }
  std::vector<std::unique_ptr<Process>> processes;
};

/// All but the victim end, by its name and with bucket and step.
void expectNamed(ServedRun &run, std::size_t victim, const std::string &name) {
  for (std::size_t r = 0; r < run.processes.size(); ++r) {
    if (r == victim)
      continue;
    EXPECT_EQ(run.processes[r]->wait(), 1);
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
    Outcome run = runToEnd({plan->folder(), "--steps", "3"});
    EXPECT_EQ(run.code, 0) << run.output;
  }
}

// A server needs neither step.so's interface nor data, and waits for workers that take their time
// beyond the time limit: it is theirs to say who is late.
TEST(ServerRun, WaitsForSlowWorkers) {
  TinyPlan plan(2, 8, "", scheme, 1);
  plan.slowDown(1.5);
  Outcome run = runToEnd({plan.folder(), "--steps", "2", "--timeout", "1"});
  EXPECT_EQ(run.code, 0) << run.output;
}

struct Loss {
  int victim;
  std::string name;
};
class LostParticipant : public ::testing::TestWithParam<Loss> {};

// Whoever is killed, all others end by its name long before the time limit, servers among them.
TEST_P(LostParticipant, KilledIsNamed) {
  const auto &[victim, name] = GetParam();
  TinyPlan plan(3, 8, "", scheme, 2);
  ServedRun run(plan, 3, 2, {"--steps", "1000000000", "--timeout", "100000"});
  run.processes[0]->waitForOutput("\"step\":20,");
  run.processes[victim]->signal(SIGKILL);
  expectNamed(run, victim, name);
}

// Whoever stands still is named once the time limit has passed.
TEST_P(LostParticipant, StuckIsNamed) {
  const auto &[victim, name] = GetParam();
  TinyPlan plan(3, 8, "", scheme, 2);
  ServedRun run(plan, 3, 2, {"--steps", "1000000000", "--timeout", "3"});
  run.processes[0]->waitForOutput("\"step\":20,");
  run.processes[victim]->signal(SIGSTOP);
  expectNamed(run, victim, name);
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
  ServedRun run(plan, 2, 2, {"--start-timeout", "4"});
  run.processes[3]->signal(SIGKILL);
  for (int r : {0, 1, 2}) {
    EXPECT_EQ(run.processes[r]->wait(), 1);
    EXPECT_NE(run.processes[r]->output().find("server 1 (rank 3)"), std::string::npos)
        << run.processes[r]->output();
  }
}

// A server with another plan is found out like any rank.
TEST(ServerRun, DifferentPlan) {
  TinyPlan plan(2, 8, "", scheme, 1), other(2, 8, "", scheme, 1);
  other.json["name"] = "other";
  other.seal();
  const int port = freePort();
  std::vector<std::unique_ptr<Process>> ranks;
  for (int r = 0; r < 3; ++r)
    ranks.push_back(std::make_unique<Process>(
        std::vector<std::string>{(r == 2 ? other : plan).folder(), "--rank", std::to_string(r),
                                 "--ranks", "3"},
        meetingAt(port)));
  for (auto &rank : ranks) {
    EXPECT_EQ(rank->wait(), 1);
    EXPECT_NE(rank->output().find("the ranks differ in their plan: "), std::string::npos);
    EXPECT_NE(rank->output().find("server 0 (rank 2) '"), std::string::npos) << rank->output();
  }
}

// A server waits for rank 0 as long as workers do, though it asks it every second. Only a long run
// has the time to see that it is longer than the 20 s of other requests.
TEST(ServerRun, WaitsForRankZeroAsWorkersDo) {
  TinyPlan plan(2, 8, "", scheme, 1);
  ServedRun run(plan, 2, 1, {"--steps", "1000000000", "--timeout", "100000"});
  run.processes[0]->waitForOutput("\"step\":20,");
  run.processes[0]->stop();
  std::this_thread::sleep_for(std::chrono::seconds(test::repeat(3, 23)));
  run.processes[0]->signal(SIGCONT);
  run.processes[1]->signal(SIGTERM);
  for (const auto &process : run.processes) {
    const int code = process->wait();
    EXPECT_TRUE(code == 128 + SIGTERM || (code == 0 && process == run.processes[2])) << code;
    EXPECT_EQ(process->output().find("error"), std::string::npos) << process->output();
  }
}

// Limits that are more milliseconds than 32 bits hold are kept, ten times as long for servers.
TEST(ServerRun, LongestLimits) {
  TinyPlan plan(2, 8, "", scheme, 1);
  for (const char *seconds : {"300000", "1e6"}) {
    Outcome run = runToEnd({plan.folder(), "--steps", "2", "--start-timeout", seconds});
    EXPECT_EQ(run.code, 0) << run.output;
  }
}

// Workers that meet a server and then do not connect are named, and soon.
TEST(ServerRun, NamesWhoDoesNotConnect) {
  TinyPlan plan(2, 8, "", scheme, 1);
  Result<Socket> listener = Socket::listen(0);
  const int port = listener->localPort();
  StoreServer meeting(std::move(*listener), 3, RankNames{2});
  Process server(
      {plan.folder(), "--rank", "2", "--ranks", "3", "--timeout", "1", "--start-timeout", "5"},
      meetingAt(port));
  // The workers' port takes connections and never answers.
  const Socket silent = std::move(*Socket::listen(0, "127.0.0.1"));
  const std::string place = "127.0.0.1 " + std::to_string(silent.localPort()) + " 1-2-3-4";
  std::latch ended(1);
  std::vector<std::thread> workers;
  for (int rank : {0, 1}) {
    const std::string own = std::to_string(rank);
    workers.emplace_back([=, &ended, hash = plan.json["hashes"]["plan"].get<std::string>()] {
      auto watch = Watch::connect("127.0.0.1", port, rank, 3, deadlineIn(patience));
      auto store = Store::connect("127.0.0.1", port, rank, 3, deadlineIn(patience));
      EXPECT_TRUE(store->gather("agree/plan", hash.substr(0, 16), deadlineIn(patience)).isOk());
      EXPECT_TRUE(store->gather(run::stepsKey, "5", deadlineIn(patience)).isOk());
      const std::string link = "link/channel0/parameter-server/2-" + own + "/2/" + own;
      EXPECT_TRUE(store->set(link, place).isOk());
      ended.wait();
    });
  }
  EXPECT_EQ(server.wait(), 1);
  ended.count_down();
  EXPECT_NE(server.output().find(
                "server 0 (rank 2): ranks 0, 1 did not connect in time; no step completed"),
            std::string::npos)
      << server.output();
  for (std::thread &worker : workers)
    worker.join();
}

// A server without memory for its sums ends the run with a message, as a worker would.
TEST(ServerRun, OutOfMemory) {
  constexpr std::int64_t extent = std::int64_t{1} << 30;
  TinyPlan plan(2, 8, "", scheme, 1);
  plan.json["buckets"][1]["extent"] = extent;
  plan.json["memory"]["parameters"] = plan.json["memory"]["gradients"] = 64 + extent;
  plan.editStep(".offset = 64, .extent = 64", ".offset = 64, .extent = " + std::to_string(extent));
  ServedRun run(plan, 2, 1);
  const rlimit limit{700u << 20, 700u << 20};
  ASSERT_EQ(prlimit(run.processes[2]->id(), RLIMIT_AS, &limit, nullptr), 0);
  EXPECT_EQ(run.processes[2]->wait(), 1);
  EXPECT_EQ(run.processes[2]->output(), "syncline-run: error: out of memory\n");
  for (int rank : {0, 1}) {
    EXPECT_EQ(run.processes[rank]->wait(), 1);
    EXPECT_NE(run.processes[rank]->output().find("lost server 0 (rank 2)"), std::string::npos)
        << run.processes[rank]->output();
  }
}

} // namespace
} // namespace syncline
