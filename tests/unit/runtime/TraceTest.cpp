// Traces: clocks put on one line, records sent and read back, the file that a run writes.
#include "Processes.h"
#include "Ranks.h"
#include "TinyPlan.h"

#include "runtime/run/trace/ClockAlignment.h"
#include "runtime/run/trace/TraceFile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <set>
#include <sstream>

namespace syncline {
namespace {

using namespace run;
using namespace syncline::testing;
using nlohmann::json;

// A clock that drifts is corrected by the line through both measurements.
TEST(ClockAlignment, InterpolatesDrift) {
  const ClockOffset first{100, 5, 1e-5}, second{110, 6, 1e-5};
  EXPECT_DOUBLE_EQ(offsetAt(first, second, 105), 5);
  EXPECT_DOUBLE_EQ(offsetAt(first, second, 116), 6);
  EXPECT_DOUBLE_EQ(offsetAt(first, second, 110.5), 5.5);
  EXPECT_DOUBLE_EQ(offsetAt(first, first, 300), 5);
}

// Threads of one host read one clock: what is measured is within its own bound of zero. Whatever
// carries buckets need not be there.
TEST(ClockAlignment, BoundsItsError) {
  runRanks(
      3,
      [](int rank, transport::Group &group) {
        auto links = RankZeroLinks::open(group, 20, 3);
        ASSERT_TRUE(links.isOk()) << links.status().message();
        auto offsets = links->measureOffsets();
        ASSERT_TRUE(offsets.isOk()) << offsets.status().message();
        ASSERT_EQ(offsets->size(), rank == 0 ? 3u : 0u);
        for (const ClockOffset &offset : *offsets)
          EXPECT_LE(std::fabs(offset.seconds), offset.error + 1e-9);
        auto all = links->collect(std::vector<double>(static_cast<std::size_t>(rank), rank));
        ASSERT_TRUE(all.isOk());
        if (rank == 0) {
          EXPECT_EQ(*all, (std::vector<std::vector<double>>{{}, {1}, {2, 2}}));
        }
      },
      /*connect=*/false);
}

// A rank that goes away while clocks are compared, or never comes, is named by those who wait.
TEST(ClockAlignment, NamesWhoeverIsLost) {
  for (const bool comes : {true, false}) {
    std::array<std::string, 2> said;
    runRanks(
        3,
        [&](int rank, transport::Group &group) {
          if (rank == 2 && !comes) {
            ASSERT_TRUE(
                group.gather("trace/place", "", 20, transport::Participants::workers).isOk());
            return;
          }
          auto links = RankZeroLinks::open(group, rank == 0 ? 1 : 20, 3);
          Status s = links.status();
          for (int round = 0; round < 2 && s && rank < 2; ++round)
            s = links->measureOffsets().status();
          if (rank < 2 && !s)
            said[static_cast<std::size_t>(rank)] = s.message();
        },
        /*connect=*/false, /*leave=*/false);
    for (const std::string &message : said)
      EXPECT_EQ(message, "lost rank 2 (its process ended)");
  }
}

// Records arrive as they were; pieces of one are refused.
TEST(TraceFile, PacksRecords) {
  StepRecord record;
  record.step = 7;
  record.operations = {{0.1, 0.2}, {0.2, 0.5}};
  record.buckets = {{3, 0.25, 0.3, 0.4}};
  record.requests = {{core::ServerRequest::Kind::read, 5, {-0.1, 0.3}, {0, 0.2}}};
  std::vector<double> numbers = packRecords(std::vector{record, record});
  auto steps = unpackRecords(numbers, 2);
  ASSERT_TRUE(steps.isOk());
  ASSERT_EQ(steps->size(), 2u);
  const TracedStep &step = steps->back();
  EXPECT_EQ(step.step, 7);
  EXPECT_EQ(step.operations[1].begin, 0.2);
  EXPECT_EQ(step.operations[1].end, 0.5);
  EXPECT_EQ(step.buckets[0].bucket, 3);
  EXPECT_EQ(step.buckets[0].finished, 0.4);
  EXPECT_EQ(step.requests[0].kind, core::ServerRequest::Kind::read);
  EXPECT_EQ(step.requests[0].clock, 5);
  EXPECT_EQ(step.requests[0].whole.begin, -0.1);
  EXPECT_EQ(step.requests[0].held.end, 0.2);
  numbers.pop_back();
  EXPECT_FALSE(unpackRecords(numbers, 2).isOk());
  EXPECT_FALSE(unpackRecords(numbers, 1000).isOk());
}

// Another rank's steps move to rank 0's clock.
TEST(TraceFile, Aligns) {
  StepRecord record;
  record.start = core::Clock::time_point(std::chrono::seconds(50));
  const std::vector<double> numbers = packRecords({&record, 1});
  const std::vector<ClockOffset> offsets{{0, 0, 0}, {0, 8, 0.25}};
  auto trace = alignTrace({numbers, numbers}, offsets, offsets, 0);
  ASSERT_TRUE(trace.isOk());
  EXPECT_EQ(trace->ranks[0][0].start, 50);
  EXPECT_EQ(trace->ranks[1][0].start, 42);
  EXPECT_EQ(trace->clockError, 0.25);
}

json tracedRun(int ranks, const std::string &scheme, int servers = 0) {
  TinyPlan plan(ranks, 4, "", scheme, servers);
  TemporaryFolder files;
  Outcome run = runToEnd(
      {plan.folder(), "--steps", "5", "--trace", files.file("t.json"), "--trace-steps", "2"});
  EXPECT_EQ(run.code, 0) << run.output;
  json trace = json::parse(readFile(files.file("t.json")), nullptr, /*allow_exceptions=*/false);
  EXPECT_EQ(trace["otherData"]["schema"], "syncline-trace");
  EXPECT_EQ(trace["otherData"]["kind"], "measured");
  EXPECT_EQ(trace["otherData"]["plan"], plan.json["hashes"]["plan"]);
  return trace;
}

// The last steps of every rank are there, messages on their channels' lines, within the step.
TEST(TraceRun, ShowsTheLastStepsOfAllRanks) {
  const json trace = tracedRun(3, "ring");
  std::set<std::pair<int, int>> steps;
  int messages = 0, updates = 0;
  for (const json &event : trace["traceEvents"]) {
    if (event["ph"] != "X")
      continue;
    EXPECT_GE(event["ts"].get<double>(), 0);
    EXPECT_GE(event["dur"].get<double>(), 0);
    steps.emplace(event["pid"].get<int>(), event["args"]["step"].get<int>());
    updates += event["cat"] == "update";
    if (event["cat"] != "message")
      continue;
    ++messages;
    EXPECT_GE(event["tid"], 1);
    EXPECT_EQ(event["args"]["scheme"], "ring");
    EXPECT_LE(event["args"]["ready"].get<double>(), event["ts"].get<double>() + 0.002);
  }
  EXPECT_EQ(steps, (std::set<std::pair<int, int>>{{0, 3}, {0, 4}, {1, 3}, {1, 4}, {2, 3}, {2, 4}}));
  EXPECT_EQ(messages, 3 * 2 * 2);
  EXPECT_EQ(updates, 3 * 2 * 2);
}

// Each flow leads from an operation over one message to an update, or to the wait of a bucket that
// is updated on the way; no two share an id.
TEST(TraceRun, LinksMessages) {
  for (const std::string scheme : {"ring", "factors", "reduce-scatter"}) {
    const json trace = tracedRun(2, scheme);
    std::map<std::int64_t, std::string> flows;
    for (const json &event : trace["traceEvents"])
      if (event.contains("id"))
        flows[event["id"]] += event["ph"].get<std::string>();
    EXPECT_EQ(flows.size(), (scheme == "factors" ? 1u : 2u) * 2 * 2) << scheme;
    for (const auto &[id, phases] : flows)
      EXPECT_EQ(phases, "stf") << scheme;
  }
}

// Servers keep no records and hold nobody up.
TEST(TraceRun, LeavesServersOut) {
  std::set<int> ranks;
  const json trace = tracedRun(2, "parameter-server", 1);
  for (const json &event : trace["traceEvents"])
    ranks.insert(event["pid"].get<int>());
  EXPECT_EQ(ranks, (std::set<int>{0, 1}));
}

// Comparing clocks is no step's traffic: every step but the first, which has no loss before it,
// moves as many bytes.
TEST(TraceRun, CountsStepsOnly) {
  TinyPlan plan(3);
  Outcome run = runToEnd({plan.folder(), "--steps", "5", "--trace", plan.file("t.json"),
                          "--trace-steps", "2", "--log", "json"});
  ASSERT_EQ(run.code, 0) << run.output;
  std::set<std::pair<std::int64_t, std::int64_t>> moved;
  std::istringstream lines(run.output);
  int steps = 0;
  for (std::string line; std::getline(lines, line);)
    if (const json step = json::parse(line); step.contains("step") && step["step"] > 0) {
      ++steps;
      moved.emplace(step["bytes_sent"], step["bytes_received"]);
    }
  EXPECT_EQ(steps, 4);
  EXPECT_EQ(moved.size(), 1u) << run.output;
}

// A signal in the traced steps ends all ranks, and the trace has the steps so far.
TEST(TraceRun, StoppedRun) {
  TinyPlan plan(2);
  Process run({plan.folder(), "--steps", "1000000", "--trace", plan.file("t.json"), "--trace-steps",
               "999990", "--log", "json"});
  run.waitForOutput("\"step\":30,");
  run.signal(SIGTERM);
  EXPECT_EQ(run.wait(), 128 + SIGTERM) << run.output();
  const json trace = json::parse(readFile(plan.file("t.json")), nullptr, false);
  EXPECT_EQ(trace["otherData"]["ranks"], 2) << run.output();
}

// A trace that could not be written is refused before the first step.
TEST(TraceRun, RefusesPlacesBeforeTraining) {
  TinyPlan plan(1);
  Outcome run = runToEnd({plan.folder(), "--trace", "/nowhere/t.json"});
  EXPECT_EQ(run.code, 1);
  EXPECT_NE(run.output.find("'/nowhere/t.json': cannot write"), std::string::npos) << run.output;
  EXPECT_EQ(run.output.find("step 1"), std::string::npos) << run.output;
  EXPECT_EQ(runToEnd({plan.folder(), "--trace-steps", "2"}).code, 2);
  EXPECT_EQ(runToEnd({plan.folder(), "--steps", "0", "--trace", plan.file("t")}).code, 2);
}

} // namespace
} // namespace syncline
