// PyTorch's traces: which events belong to which node, forward and backward.
#include "frontend/profile/TorchTrace.h"
#include "tests/support/Results.h"

#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::profile;

namespace {

constexpr const char *engineText = "autograd::engine::evaluate_function: ";

/// Builds a trace event by event; times in microseconds.
struct TraceText {
  std::string events;
  TraceText &add(const std::string &name, double ts, double dur, const std::string &args = "",
                 int thread = 1, const std::string &category = "cpu_op") {
    events += (events.empty() ? "" : ",") + std::string("{\"ph\": \"X\", \"cat\": \"") + category +
              "\", \"name\": \"" + name + "\", \"pid\": 7, \"tid\": " + std::to_string(thread) +
              ", \"ts\": " + std::to_string(ts) + ", \"dur\": " + std::to_string(dur) +
              ", \"args\": {" + args + "}}";
    return *this;
  }
  files::ChromeTrace parse() const {
    auto trace = files::parseChromeTrace("{\"traceEvents\": [" + events + "]}", "t.json");
    EXPECT_TRUE(trace) << trace.status().message();
    return trace ? *trace : files::ChromeTrace();
  }
};

EventMap map(const std::string &operations) {
  auto read = parseEventMap(R"({"schema": 1, "batch": 4, "operations": )" + operations + "}", "m");
  EXPECT_TRUE(read) << read.status().message();
  return read ? *read : EventMap();
}

files::OperationTimes times(const TraceText &trace, const std::string &operations,
                            const std::string &node) {
  auto imported = importEvents(trace.parse(), map(operations), "t.json");
  EXPECT_TRUE(imported) << imported.status().message();
  return imported ? imported->profile.operations.at(node) : files::OperationTimes();
}

std::string failure(const TraceText &trace, const std::string &operations) {
  return test::messageOf(importEvents(trace.parse(), map(operations), "t.json"));
}

/// Two convolutions forward, then backward in reverse, linked by sequence numbers. Views before an
/// operation bear its number, too.
TraceText twoConvolutions() {
  TraceText t;
  t.add("aten::conv2d", 0, 10, R"("Sequence number": 5)")
      .add("aten::convolution", 1, 8, R"("Sequence number": 5)")
      .add("aten::detach", 12, 1, R"("Sequence number": 6)")
      .add("aten::conv2d", 20, 30, R"("Sequence number": 6)")
      .add(engineText + std::string("ConvolutionBackward0"), 60, 40, R"("Sequence number": 6)", 2)
      .add("aten::conv2d", 65, 5, R"("Sequence number": 99)", 2)
      .add(engineText + std::string("ConvolutionBackward0"), 110, 20, R"("Sequence number": 5)", 2);
  return t;
}

const std::string unmarked = "the trace has no events 'ProfilerStep#' and counts as one step: "
                             "'torch.profiler.profile' with a 'schedule' marks steps";

} // namespace

// The 1st, 2nd, ... event of a name is the list's; the engine's evaluation follows by number, and
// what runs inside the engine is nobody's forward.
TEST(TorchTrace, FollowsSequenceNumbers) {
  const std::string list = R"({"aten::conv2d": ["a", "b"]})";
  const files::OperationTimes a = times(twoConvolutions(), list, "a");
  EXPECT_DOUBLE_EQ(a.forward, 10e-6);
  EXPECT_DOUBLE_EQ(*a.backward, 20e-6);
  const files::OperationTimes b = times(twoConvolutions(), list, "b");
  EXPECT_DOUBLE_EQ(b.forward, 30e-6);
  EXPECT_DOUBLE_EQ(*b.backward, 40e-6);
}

// A single name takes all events.
TEST(TorchTrace, OneNodeForAll) {
  const files::OperationTimes all = times(twoConvolutions(), R"({"aten::conv2d": "a"})", "a");
  EXPECT_DOUBLE_EQ(all.forward, 40e-6);
  EXPECT_DOUBLE_EQ(*all.backward, 60e-6);
}

// Without numbers the map names the engine's events; nothing counts twice.
TEST(TorchTrace, MapsTheEngine) {
  const std::string list = R"({"aten::conv2d": ["a", "b"],
      "autograd::engine::evaluate_function: ConvolutionBackward0": ["b", "a"]})";
  EXPECT_DOUBLE_EQ(*times(twoConvolutions(), list, "a").backward, 20e-6);
  TraceText t;
  t.add("aten::relu", 0, 3).add(engineText + std::string("ReluBackward0"), 10, 7);
  const std::string engine = R"({"aten::relu": "r",
      "autograd::engine::evaluate_function: ReluBackward0": "r"})";
  EXPECT_DOUBLE_EQ(times(t, engine, "r").forward, 3e-6);
  EXPECT_DOUBLE_EQ(*times(t, engine, "r").backward, 7e-6);
}

// Medians over the steps.
TEST(TorchTrace, TakesMediansOfSteps) {
  TraceText t;
  for (int step = 0; step < 3; ++step)
    t.add("ProfilerStep#" + std::to_string(step), 100 * step, 90, "", 1, "user_annotation")
        .add("aten::relu", 100 * step + 1, step == 1 ? 50 : 5 + step);
  auto imported = importEvents(t.parse(), map(R"({"aten::relu": ["r"]})"), "t.json");
  ASSERT_TRUE(imported);
  EXPECT_EQ(imported->steps, 3u);
  EXPECT_DOUBLE_EQ(imported->profile.operations.at("r").forward, 7e-6);
  EXPECT_EQ(imported->profile.batch, 4);
}

// On a GPU the kernels that an operation launched are its time, though they run later.
TEST(TorchTrace, CountsKernels) {
  TraceText t;
  t.add("ProfilerStep#1", 0, 20, "", 1, "user_annotation")
      .add("aten::linear", 0, 10, R"("External id": 1)")
      .add("aten::addmm", 1, 8, R"("External id": 2)")
      .add("gemm", 15, 100, R"("External id": 2, "stream": 7)", 7, "kernel")
      .add("other", 130, 100, R"("External id": 9)", 7, "kernel");
  EXPECT_DOUBLE_EQ(times(t, R"({"aten::linear": "fc"})", "fc").forward, 100e-6);
}

// A run's own trace needs no map: medians over steps and ranks, updates by the byte, of
// reconstruction one rank's share.
TEST(RunTrace, TakesMediansOfStepsAndRanks) {
  TraceText t;
  for (const int step : {0, 1, 2}) {
    const std::string of = "\"step\": " + std::to_string(step) + ", \"layer\": \"fc\", ";
    t.add("matmul", 100 * step, 3 + step, of + R"("phase": "forward")", 0, "compute")
        .add("matmul", 100 * step + 10, 5, of + R"("phase": "backward")", 0, "compute")
        .add("matmul", 100 * step + 20, 8, of + R"("phase": "update")", 0, "compute")
        .add("update", 100 * step + 30, 2, of + R"("bucket": 0, "bytes": 4)", 0, "update");
  }
  files::ChromeTrace trace = t.parse();
  trace.ranks = 4;
  trace.kind = "measured";
  auto imported = importRun(trace, "t.json");
  ASSERT_TRUE(imported);
  const files::OperationTimes &fc = imported->profile.operations.at("fc");
  EXPECT_DOUBLE_EQ(fc.forward, 4e-6);
  EXPECT_DOUBLE_EQ(*fc.backward, 7e-6);
  EXPECT_DOUBLE_EQ(*imported->profile.update, 0.5e-6);
  EXPECT_DOUBLE_EQ(imported->step, 32e-6);
  trace.kind = "simulated"; // without bytes and ranks, so updates would cost nothing
  EXPECT_EQ(importRun(trace, "t.json").status().message(),
            "t.json: expected a trace of a run, got one that is 'simulated'");
  files::ChromeTrace empty;
  empty.kind = "measured";
  EXPECT_EQ(importRun(empty, "t.json").status().message(),
            "t.json: expected a trace with operations of layers, got none");
}

// A trace whose steps nobody marked counts as one, and says so.
TEST(TorchTrace, SaysThatStepsAreNotMarked) {
  const auto summary = [](const TraceText &t) {
    auto imported = importEvents(t.parse(), map(R"({"aten::relu": "r"})"), "t.json");
    return imported ? importSummary(*imported) : imported.status().message();
  };
  TraceText t;
  t.add("aten::relu", 0, 5).add("aten::relu", 10, 5);
  EXPECT_EQ(summary(t), "note: " + unmarked +
                            "\n1 step of 15.0 us: 1 node takes 10.0 us, 66.67 % of "
                            "one\n");
  t.add("ProfilerStep#0", 0, 20, "", 1, "user_annotation");
  EXPECT_EQ(summary(t), "1 step of 20.0 us: 1 node takes 10.0 us, 50.00 % of one\n");
}

// A list of another length, no event at all, and maps that are none.
TEST(TorchTrace, Refuses) {
  EXPECT_EQ(failure(twoConvolutions(), R"({"aten::conv2d": ["a"]})"),
            "t.json: a step has 2 events 'aten::conv2d', expected the 1 of the map; " + unmarked);
  EXPECT_EQ(failure(twoConvolutions(), R"({"aten::conv3d": "a"})"),
            "t.json: no step has an event 'aten::conv3d', which the map names");
  EXPECT_EQ(failure(twoConvolutions(), R"({"aten::conv2d": "a", "aten::conv3d": "b"})"),
            "t.json: no step has an event 'aten::conv3d', which the map names");
  EXPECT_EQ(failure(twoConvolutions(), R"({"aten::conv2d": "a", "aten::conv3d": []})"),
            "t.json: no step has an event 'aten::conv3d', which the map names");
  EXPECT_EQ(failure(twoConvolutions(), "{}"), "t.json: the map names no events");
  auto told = [](const char *text) { return parseEventMap(text, "m.json").status().message(); };
  EXPECT_EQ(told("{"), "m.json: not valid JSON");
  EXPECT_EQ(told("{}"), "m.json: expected \"schema\": 1");
  EXPECT_EQ(told(R"({"schema": 1, "operation": {}})"),
            "m.json: unknown key 'operation', did you mean 'operations'?");
  EXPECT_EQ(told(R"({"schema": "1", "operations": {}})"), "m.json: expected \"schema\": 1");
  EXPECT_EQ(told(R"({"schema": 1, "name": 5, "operations": {}})"),
            "m.json: 'name': expected a text, got number");
  EXPECT_EQ(told(std::string(200'000, '[').c_str()), "m.json: expected at most 8 levels");
  const std::string operations =
      "m.json: 'operations': expected an object of node names, or lists of them, by event, got ";
  EXPECT_EQ(told(R"({"schema": 1})"), operations + "none");
  EXPECT_EQ(told(R"({"schema": 1, "operations": ["a"]})"), operations + "array");
  EXPECT_EQ(told(R"({"schema": 1, "operations": {"a": 1}})"), operations + "number of 'a'");
  EXPECT_EQ(told(R"({"schema": 1, "operations": {"a": ["b", 1]}})"),
            operations + "a list of others of 'a'");
}
