// Ranks that are killed or stopped at random moments, under every form of consistency.
//
// SYNCLINE_KILLS in the environment is the number of runs, 12 by default and 46 in a long run. The
// seed is fixed; run i does not depend on the number of runs.
#include "Crew.h"
#include "ReducedPlan.h"
#include "ServedPlan.h"
#include "tests/support/Depth.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <thread>

namespace syncline {
namespace {

using namespace syncline::testing;

constexpr int workers = 3;

/// A form and the number of its dedicated servers.
struct Kind {
  std::string name;
  int servers;
  bool sparesWorkers;
  std::function<std::shared_ptr<TinyPlan>()> make;
  std::shared_ptr<TinyPlan> plan = nullptr;
};

/// Every form; those that have servers with and without dedicated ones.
std::vector<Kind> everyKind() {
  std::vector<Kind> kinds;
  for (int servers : {0, 2}) {
    const std::string scheme = servers > 0 ? "parameter-server" : "ring";
    kinds.push_back({"bsp", servers, false,
                     [=] { return std::make_shared<TinyPlan>(workers, 5, "", scheme, servers); }});
  }
  for (const auto &form : forms::reduced)
    kinds.push_back({forms::nameOf(form), 0, false,
                     [&form] { return std::make_shared<ReducedPlan>(workers, form); }});
  for (const auto &form : forms::served)
    for (int servers : {0, 2})
      kinds.push_back(
          {forms::nameOf(form), servers, servers > 0 && forms::isAsynchronous(form),
           [&form, servers] { return std::make_shared<ServedPlan>(workers, servers, form); }});
  return kinds;
}

/// One run, one victim.
struct Attempt {
  static constexpr int steps = 2000;

  Attempt(Kind &kind, std::mt19937 &random)
      : kind(kind), size(workers + kind.servers), victim(static_cast<int>(random() % size)),
        number(random() % 4 == 0 ? SIGSTOP : SIGKILL), delay(random() % 1500) {}

  std::string text() const {
    return kind.name + ", " + std::to_string(kind.servers) + " servers, rank " +
           std::to_string(victim) + (number == SIGKILL ? " killed" : " stopped") + " after " +
           std::to_string(delay) + " ms";
  }

  std::vector<std::string> options() const {
    return {"--steps",
            std::to_string(steps),
            "--lr",
            "0.001",
            "--timeout",
            "3",
            "--start-timeout",
            "10",
            "--trace",
            files.file("t.json"),
            "--trace-steps",
            "500",
            "--dump",
            files.file("d"),
            "--dump-steps",
            "300,301,302"};
  }

  /// What came of it: "named", "went on", "was over".
  std::string outcome() {
    Crew crew(*kind.plan, workers, kind.servers, options());
    std::this_thread::sleep_for(std::chrono::milliseconds(delay));
    Process &killed = *crew.processes[victim];
    killed.signal(number);
    const std::string before = crew.processes[0]->output();
    std::map<int, int> codes;
    for (int rank = 0; rank < size; ++rank)
      if (rank != victim)
        codes[rank] = crew.processes[rank]->wait();
    killed.signal(SIGKILL); // one that was stopped
    const bool hadEnded = killed.wait() == 0;
    checkFiles();
    const bool all = std::ranges::all_of(codes, [](const auto &c) { return c.second == 0; });
    if (!all) {
      expectNamed(crew, codes);
      return "named";
    }
    const std::string after = crew.processes[0]->output();
    if (after.find("lost " + crew.nameOf(victim) + " ") != std::string::npos) {
      EXPECT_TRUE(kind.sparesWorkers) << after;
      return "went on";
    }
    EXPECT_TRUE(hadEnded || before.find(lastStep()) != std::string::npos) << after;
    return "was over";
  }

private:
  static std::string lastStep() { return "\"step\":" + std::to_string(steps - 1) + ","; }

  /// Whoever ends with an error names the victim, who may not have found the others yet.
  void expectNamed(const Crew &crew, const std::map<int, int> &codes) const {
    for (const auto &[rank, code] : codes) {
      const std::string output = crew.processes[rank]->output();
      EXPECT_TRUE(code == 0 || code == 1) << "rank " << rank << ": " << code << " " << output;
      EXPECT_TRUE(code == 0 || output.find(crew.nameOf(victim)) != std::string::npos)
          << "rank " << rank << ": " << output;
    }
  }

  /// Files are whole or not there. A victim that is killed while it replaces a file, or where the
  /// file system has only files with names, leaves one of another name.
  void checkFiles() const {
    const std::map<std::string, std::size_t> sizes{
        {"fc%2Fw.npy", 128 + 48}, {"fc%2Fb.npy", 128 + 12}, {"loss.npy", 128 + 8}};
    const std::string victims = files.file(dumpOf(victim) + "/step");
    for (const auto &entry : std::filesystem::recursive_directory_iterator(files.path)) {
      const std::string path = entry.path();
      if (entry.is_directory())
        continue;
      if (path == files.file("t.json")) {
        EXPECT_TRUE(nlohmann::json::accept(readFile(path)));
      } else if (const auto size = sizes.find(entry.path().filename()); size != sizes.end()) {
        EXPECT_EQ(entry.file_size(), size->second) << path;
      } else {
        EXPECT_NE(path.find(".partial-"), std::string::npos) << path;
        EXPECT_TRUE(path.starts_with(victims) ||
                    (victim == 0 && path.starts_with(files.file("t.json"))))
            << path;
      }
    }
  }

  Kind &kind;
  TemporaryFolder files;
  const int size, victim, number;
  const unsigned long delay;
};

/// Processes that run a plan.
int processesOf(const std::string &folder) {
  int found = 0;
  for (const auto &entry : std::filesystem::directory_iterator("/proc")) {
    const std::string words = readFile(entry.path() / "cmdline");
    found += words.starts_with(SYNCLINE_RUN) && words.find(folder) != std::string::npos;
  }
  return found;
}

// Whoever is killed or stopped, and whenever: the others end in time and name that rank, or train
// on and say so, and neither a process nor a part of a file is left.
TEST(RandomKills, NothingHangs) {
  const char *told = std::getenv("SYNCLINE_KILLS");
  const int count = told ? std::atoi(told) : test::repeat(12, 46);
  std::vector<Kind> kinds = everyKind();
  std::map<std::string, int> outcomes;
  for (int i = 0; i < count; ++i) {
    std::mt19937 random(static_cast<unsigned>(i));
    Kind &kind = kinds[static_cast<std::size_t>(i) * 7 % kinds.size()];
    if (!kind.plan)
      kind.plan = kind.make();
    Attempt attempt(kind, random);
    SCOPED_TRACE("run " + std::to_string(i) + ": " + attempt.text());
    const std::string outcome = attempt.outcome();
    ++outcomes[outcome];
    EXPECT_EQ(processesOf(kind.plan->folder()), 0);
    if (told)
      std::cout << i << " " << attempt.text() << ": " << outcome << std::endl;
  }
  for (const auto &[outcome, times] : outcomes)
    std::cout << "  " << outcome << ": " << times << std::endl;
}

} // namespace
} // namespace syncline
