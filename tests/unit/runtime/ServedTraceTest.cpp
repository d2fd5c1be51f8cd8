// Traces of runs whose weights travel by servers: requests beside the steps, and lost ranks.
#include "Crew.h"
#include "ServedPlan.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

namespace syncline {
namespace {

using namespace syncline::testing;
using namespace syncline::testing::forms;

struct Event {
  std::string name, category;
  int rank, track;
  double begin, end;
  Json args;
  std::int64_t clock() const { return args["clock"]; }
};

/// The events of the workers, or those of the servers.
std::vector<Event> eventsOf(const std::string &file, bool ofServers = false) {
  std::vector<Event> events;
  const Json trace = Json::parse(readFile(file), nullptr, /*allow_exceptions=*/false);
  EXPECT_FALSE(trace.is_discarded()) << file;
  for (const Json &e : trace["traceEvents"])
    if (e["ph"] == "X" && (e["cat"] == "server") == ofServers)
      events.push_back({e["name"], e["cat"], e["pid"], e["tid"], e["ts"],
                        e["ts"].get<double>() + e["dur"].get<double>(), e["args"]});
  return events;
}

std::vector<Event> named(const std::vector<Event> &events, int rank, const std::string &name) {
  std::vector<Event> found;
  std::ranges::copy_if(events, std::back_inserter(found),
                       [&](const Event &e) { return e.rank == rank && e.name == name; });
  return found;
}

std::vector<Event> traced(const ServedPlan &plan, int workers, int steps, int last) {
  const Outcome run =
      runToEnd({plan.folder(), "--steps", std::to_string(steps), "--lr", "0.001", "--trace",
                plan.file("t.json"), "--trace-steps", std::to_string(last)});
  EXPECT_EQ(run.code, 0) << run.output;
  std::vector<Event> events = eventsOf(plan.file("t.json"));
  std::set<int> ranks;
  for (const Event &e : events)
    ranks.insert(e.rank);
  EXPECT_EQ(ranks.size(), static_cast<std::size_t>(workers));
  return events;
}

/// The names of the trace's processes, by pid.
std::map<int, std::string> processes(const std::string &file) {
  std::map<int, std::string> names;
  const Json trace = Json::parse(readFile(file));
  for (const Json &e : trace["traceEvents"])
    if (e["ph"] == "M" && e["name"] == "process_name")
      names[e["pid"]] = e["args"]["name"];
  return names;
}

/// The clocks of a server's events of one worker.
std::vector<std::int64_t> clocksOf(const std::vector<Event> &events, const std::string &name,
                                   int worker) {
  std::vector<std::int64_t> clocks;
  for (const Event &e : events)
    if (e.name == name && e.args["worker"] == worker)
      clocks.push_back(e.clock());
  return clocks;
}

/// The operations of a step of one rank.
std::vector<Event> operations(const std::vector<Event> &events, int rank, std::int64_t step) {
  std::vector<Event> found;
  std::ranges::copy_if(events, std::back_inserter(found), [&](const Event &e) {
    return e.rank == rank && e.track == 0 && e.args["step"] == step;
  });
  return found;
}

// Each worker's pushes, reads, ticks and grants of the last steps are there, on two tracks beside
// the operations. On each track, one ends before the next one begins.
TEST(ServedTrace, ShowsRequestsInOrder) {
  for (int servers : {0, 2}) {
    ServedPlan plan(3, servers, ssp);
    const std::vector<Event> events = traced(plan, 3, 12, 6);
    for (int rank = 0; rank < 3; ++rank) {
      std::map<int, double> ended;
      std::map<std::string, std::vector<std::int64_t>> clocks;
      std::vector<Event> own;
      for (const std::string name : {"push", "read", "tick", "grant"})
        std::ranges::copy(named(events, rank, name), std::back_inserter(own));
      std::ranges::stable_sort(own, {}, &Event::begin);
      for (const Event &e : own) {
        EXPECT_GE(e.begin, ended[e.track] - 0.002) << e.name;
        EXPECT_GE(e.end, e.begin);
        EXPECT_GT(e.track, 0);
        ended[e.track] = e.end;
        clocks[e.name].push_back(e.clock());
      }
      EXPECT_EQ(ended.size(), 2u);
      EXPECT_EQ(clocks["tick"], (std::vector<std::int64_t>{7, 8, 9, 10, 11, 12}));
      EXPECT_EQ(clocks["grant"], (std::vector<std::int64_t>{6, 7, 8, 9, 10, 11, 12}));
      // The push of the step before may end behind the first traced step's beginning.
      EXPECT_TRUE(std::ranges::is_sorted(clocks["push"]));
      EXPECT_EQ(clocks["push"].back(), 12);
      EXPECT_GE(clocks["push"].size(), 6u);
      EXPECT_TRUE(std::ranges::is_sorted(clocks["read"]));
      EXPECT_EQ(clocks["read"].back(), 12);
    }
  }
}

// Each server has a process of its own. For each worker it shows every update of the last steps,
// which is added behind its last value, and values that are sent while the worker reads. The first
// server answers the ticks. On each track, one event ends before the next one begins.
TEST(ServedTrace, ShowsServers) {
  for (int servers : {0, 2}) {
    ServedPlan plan(3, servers, ssp);
    const std::vector<Event> requests = traced(plan, 3, 12, 6);
    const std::vector<Event> services = eventsOf(plan.file("t.json"), /*ofServers=*/true);
    const std::map<int, std::string> names = processes(plan.file("t.json"));
    const int count = 2; // shards of the plan
    const double error = Json::parse(readFile(plan.file("t.json")))["otherData"]["clock_error_us"],
                 most = 2 * error + 1;
    EXPECT_EQ(names.size(), static_cast<std::size_t>(3 + count));
    std::size_t seen = 0;
    for (int server = 0; server < count; ++server) {
      EXPECT_EQ(names.at(3 + server),
                "server " + std::to_string(server) +
                    (servers > 0 ? "" : " in the process of rank " + std::to_string(server)));
      std::vector<Event> own;
      std::ranges::copy_if(services, std::back_inserter(own),
                           [&](const Event &e) { return e.rank == 3 + server; });
      seen += own.size();
      std::ranges::stable_sort(own, {}, &Event::begin);
      std::map<int, double> ended;
      for (const Event &e : own) {
        EXPECT_GE(e.begin, ended[e.track] - 0.002) << e.name;
        ended[e.track] = e.end;
      }
      for (int worker = 0; worker < 3; ++worker) {
        const std::vector<std::int64_t> updates{6, 7, 8, 9, 10, 11, 12};
        EXPECT_EQ(clocksOf(own, "add", worker), updates);
        EXPECT_EQ(clocksOf(own, "receive", worker), updates);
        EXPECT_EQ(clocksOf(own, "grant", worker),
                  server == 0 ? updates : std::vector<std::int64_t>());
        int during = 0;
        for (const Event &read : named(requests, worker, "read"))
          for (const Event &e : own)
            during += e.name == "send" && e.args["worker"] == worker && e.clock() == read.clock() &&
                      e.begin >= read.begin - most && e.end <= read.end + most;
        EXPECT_GE(during, 1) << "worker " << worker;
      }
    }
    EXPECT_EQ(seen, services.size());
  }
}

// A tick leaves behind its step, and the next step begins behind the grant.
TEST(ServedTrace, PlacesTicksBetweenSteps) {
  ServedPlan plan(2, 1, ssp);
  const std::vector<Event> events = traced(plan, 2, 20, 10);
  for (int rank = 0; rank < 2; ++rank) {
    for (const Event &tick : named(events, rank, "tick"))
      for (const Event &e : operations(events, rank, tick.clock() - 1))
        EXPECT_GE(tick.begin, e.end - 0.002);
    for (const Event &grant : named(events, rank, "grant"))
      for (const Event &e : operations(events, rank, grant.clock()))
        EXPECT_LE(grant.end, e.begin + 0.002);
  }
}

// A step computes while a read is under way, however long the server takes.
TEST(ServedTrace, ShowsReadsBesideSteps) {
  ServedPlan plan(2, 1, asp);
  plan.slowDown(0.01, /*held=*/15);
  Crew run(
      plan, 2, 1,
      {"--steps", "100", "--lr", "0.001", "--trace", plan.file("t.json"), "--trace-steps", "100"});
  run.processes[0]->waitForOutput("\"step\":10,");
  run.processes[2]->stop();
  plan.letGo();
  std::this_thread::sleep_for(std::chrono::milliseconds(300)); // longer reads, never fewer
  run.processes[2]->signal(SIGCONT);
  for (const auto &process : run.processes)
    EXPECT_EQ(process->wait(), 0) << process->output();
  const std::vector<Event> events = eventsOf(plan.file("t.json"));
  for (int rank = 0; rank < 2; ++rank) {
    int beside = 0;
    for (const Event &read : named(events, rank, "read"))
      for (const Event &e : operations(events, rank, read.clock()))
        beside += read.begin < e.end && e.begin < read.end;
    EXPECT_GE(beside, 1) << "rank " << rank;
  }
}

/// Worker 2 of 3 stands still for so many seconds while the others get as far as they may. Whether
/// the server held each of them back for half of that time at least.
bool showsWhatIsHeldBack(double seconds) {
  ServedPlan plan(3, 1, ssp);
  plan.slowDown(0.001, /*held=*/15);
  Crew run(plan, 3, 1,
           {"--steps", "100", "--lr", "0.001", "--timeout", "100000", "--trace",
            plan.file("t.json"), "--trace-steps", "100"});
  run.processes[2]->waitForOutput("forward 15\n");
  run.processes[2]->stop();
  plan.letGo();
  for (int rank : {0, 1}) // the last step that is not more than two ahead
    run.processes[rank]->waitForOutput("forward 17\n");
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  run.processes[2]->signal(SIGCONT);
  for (const auto &process : run.processes)
    EXPECT_EQ(process->wait(), 0) << process->output();
  const std::vector<Event> events = eventsOf(plan.file("t.json"));
  bool isLong = true;
  for (int rank : {0, 1}) {
    double longest = 0;
    for (const Event &grant : named(events, rank, "grant")) {
      const double held = grant.args["held_us"];
      EXPECT_LE(held, grant.end - grant.begin + 0.002);
      longest = std::max(longest, held);
    }
    isLong &= longest >= 0.5e6 * seconds;
    for (const Event &held : named(events, rank, "held back"))
      EXPECT_TRUE(std::ranges::any_of(named(events, rank, "grant"), [&](const Event &grant) {
        return grant.clock() == held.clock() && grant.begin <= held.begin + 0.002 &&
               held.end <= grant.end + 0.002;
      }));
  }
  double longest = 0; // the server's times are those that it states to the worker
  int kept = 0;
  for (const Event &e : eventsOf(plan.file("t.json"), /*ofServers=*/true)) {
    if (e.name == "grant")
      longest = std::max(longest, e.end - e.begin);
    kept += e.name == "parked" && e.clock() == 100;
  }
  isLong &= longest >= 0.5e6 * seconds;
  EXPECT_GE(kept, 1);
  int parked = 0; // all have left when the last one reads
  for (int rank : {0, 1, 2})
    for (const Event &e : named(events, rank, "parked"))
      parked += e.clock() == 100;
  EXPECT_GE(parked, 1);
  return isLong;
}

// A worker that stands still for a while shows in the others' grants, which the server holds back.
// The first worker that ends finds its last read parked. Where the machine is busy, the others ask
// late, and a longer while must show.
TEST(ServedTrace, ShowsWhatIsHeldBack) {
  EXPECT_TRUE(showsWhatIsHeldBack(0.4) || showsWhatIsHeldBack(4) || showsWhatIsHeldBack(40));
}

// Under "asp" a worker that stands still holds nobody up at the first traced step either.
TEST(ServedTrace, NobodyWaitsAtTheFirstTracedStep) {
  ServedPlan plan(2, 1, asp);
  plan.slowDown(0, /*held=*/25);
  Crew run(plan, 2, 1,
           {"--steps", "600", "--lr", "0.001", "--timeout", "100000", "--trace",
            plan.file("t.json"), "--trace-steps", "300"});
  run.processes[0]->waitForOutput("\"step\":20,");
  run.processes[1]->stop();
  plan.letGo();
  run.processes[0]->waitForOutput("\"step\":598,");
  run.processes[1]->signal(SIGCONT);
  for (const auto &process : run.processes)
    EXPECT_EQ(process->wait(), 0) << process->output();
  EXPECT_FALSE(summaryOf(run.processes[0]->output()).contains("lost_ranks"));
}

// EASGD's exchanges are there once a period.
TEST(ServedTrace, ShowsElasticExchanges) {
  for (const char *variant : {"original", "async"}) {
    ServedPlan plan(2, 1, easgd(variant));
    const std::vector<Event> events = traced(plan, 2, 12, 8);
    for (int rank = 0; rank < 2; ++rank) {
      std::vector<std::int64_t> clocks;
      for (const Event &e : named(events, rank, "elastic"))
        clocks.push_back(e.clock());
      EXPECT_EQ(clocks, (std::vector<std::int64_t>{4, 6, 8, 10})) << variant;
      const std::vector<Event> services = eventsOf(plan.file("t.json"), /*ofServers=*/true);
      EXPECT_EQ(clocksOf(services, "add", rank), clocks) << variant;
    }
  }
}

std::vector<Json> asynchronous() {
  std::vector<Json> found;
  std::ranges::copy_if(served, std::back_inserter(found), isAsynchronous);
  return found;
}

/// Worker 1 of 3 gets the signal at about step 20 of 250, of which the last `traced` are traced.
void expectTraceOfOthers(const Json &form, int number, const std::string &traced) {
  ServedPlan plan(3, 1, form);
  plan.slowDown(0.001, /*held=*/25);
  Crew run(plan, 3, 1,
           {"--steps", "250", "--lr", "0.001", "--timeout", number == SIGKILL ? "100000" : "3",
            "--trace", plan.file("t.json"), "--trace-steps", traced});
  run.processes[0]->waitForOutput("\"step\":20,");
  run.processes[1]->signal(number);
  plan.letGo();
  for (std::size_t rank : {0, 2, 3})
    EXPECT_EQ(run.processes[rank]->wait(), 0) << run.processes[rank]->output();
  EXPECT_EQ(summaryOf(run.processes[0]->output())["lost_ranks"], Json::array({1}));
  std::map<int, std::set<std::int64_t>> steps;
  for (const Event &e : eventsOf(plan.file("t.json")))
    steps[e.rank].insert(e.args["step"].get<std::int64_t>());
  EXPECT_EQ(steps.size(), 2u);
  for (int rank : {0, 2})
    EXPECT_EQ(steps[rank].size(), std::stoul(traced)) << "rank " << rank;
  const std::vector<Event> services = eventsOf(plan.file("t.json"), /*ofServers=*/true);
  for (int rank : {0, 2}) {
    const std::vector<std::int64_t> added = clocksOf(services, "add", rank);
    ASSERT_FALSE(added.empty());
    EXPECT_GE(added.back(), 248); // EASGD's last period of two steps begins there
  }
}

class TraceWithout : public ::testing::TestWithParam<Json> {};

// Where the run goes on without a worker that is killed in the traced steps, the trace has the
// others' steps.
TEST_P(TraceWithout, KilledWorker) { expectTraceOfOthers(GetParam(), SIGKILL, "250"); }

INSTANTIATE_TEST_SUITE_P(Forms, TraceWithout, ::testing::ValuesIn(asynchronous()),
                         [](const auto &info) { return nameOf(info.param); });

// A worker may also be lost before the traced steps, or stand still until it is given up.
TEST(ServedTrace, LosesWorkerEarly) {
  for (int number : {SIGKILL, SIGSTOP})
    expectTraceOfOthers(asp, number, "50");
}

// A signal in the traced steps leaves a trace of those so far, a signal before them a note. Ranks
// may stand on both sides of the first traced step.
TEST(ServedTrace, StoppedRun) {
  for (const Json &form : {ssp, asp})
    for (const bool traces : {true, false}) {
      ServedPlan plan(2, 1, form);
      plan.slowDown(0.001);
      Crew run(plan, 2, 1,
               {"--steps", "1000000", "--lr", "0.001", "--trace", plan.file("t.json"),
                "--trace-steps", traces ? "999990" : "10"});
      run.processes[0]->waitForOutput("\"step\":30,");
      run.processes[0]->signal(SIGTERM);
      for (std::size_t rank : {0, 1})
        EXPECT_EQ(run.processes[rank]->wait(), 128 + SIGTERM) << run.processes[rank]->output();
      EXPECT_EQ(std::filesystem::exists(plan.file("t.json")), traces);
      const std::string output = run.processes[0]->output();
      EXPECT_EQ(output.find("which is not written") == std::string::npos, traces) << output;
    }
}

} // namespace
} // namespace syncline
