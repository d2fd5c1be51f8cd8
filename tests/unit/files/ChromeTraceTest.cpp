// Traces of several writers.
#include "frontend/files/ChromeTrace.h"
#include "tests/support/Results.h"

#include <gtest/gtest.h>

namespace syncline::files {
namespace {

std::string failure(std::string_view text) {
  return test::messageOf(parseChromeTrace(text, "t.json"));
}

// Microseconds become seconds, other kinds of events are left out, the longer of two that begin
// together comes first.
TEST(ChromeTrace, Reads) {
  const auto trace = parseChromeTrace(R"({"traceEvents": [
      {"ph": "M", "name": "process_name"},
      {"ph": "X", "name": "in", "pid": 1, "tid": 0, "ts": 5, "dur": 1.5},
      {"ph": "X", "name": "out", "cat": "message", "pid": 1, "tid": 2, "ts": 5, "dur": 9,
       "args": {"step": 3, "bucket": 4, "ready": 2.5, "layer": "a", "scheme": "ring"}}],
      "otherData": {"schema": "syncline-trace", "plan": "h", "kind": "measured",
                    "clock_error_us": 3}})",
                                      "t.json");
  ASSERT_TRUE(trace) << trace.status().message();
  ASSERT_EQ(trace->events.size(), 2u);
  const TraceEvent &out = trace->events[0];
  EXPECT_EQ(out.name, "out");
  EXPECT_EQ(out.rank, 1);
  EXPECT_EQ(out.thread, "2");
  EXPECT_DOUBLE_EQ(out.begin, 5e-6);
  EXPECT_DOUBLE_EQ(out.end(), 14e-6);
  EXPECT_EQ(out.step, 3);
  EXPECT_EQ(out.bucket, 4);
  EXPECT_DOUBLE_EQ(*out.ready, 2.5e-6);
  EXPECT_EQ(trace->plan, "h");
  EXPECT_DOUBLE_EQ(trace->clockError, 3e-6);
}

// PyTorch built without Kineto writes the bare list, with processes that are names.
TEST(ChromeTrace, BareList) {
  const auto trace = parseChromeTrace(
      R"([{"name": "a", "ph": "X", "ts": 1, "dur": 2, "tid": 1, "pid": "CPU functions"}])", "t");
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->events[0].process, "CPU functions");
  EXPECT_FALSE(trace->events[0].rank);
}

TEST(ChromeTrace, Refuses) {
  EXPECT_EQ(failure("{"), "t.json: not valid JSON, as a trace is");
  EXPECT_EQ(failure("{}"), "t.json: expected a trace with 'traceEvents', got none");
  EXPECT_EQ(failure("3"), "t.json: expected a trace with 'traceEvents', got none");
  EXPECT_EQ(failure(R"([{"ph": "M"}, {"ph": "X", "ts": 1}])"),
            "t.json: event 2: expected 'dur' in microseconds, got none");
  EXPECT_EQ(failure(R"([{"ph": "X", "ts": 1, "dur": -2}])"),
            "t.json: event 1: expected 'dur' in microseconds, got -2");
  EXPECT_EQ(failure(R"([{"ph": "X", "ts": "now", "dur": 2}])"),
            "t.json: event 1: expected 'ts' in microseconds, got \"now\"");
}

// What nests deeper than any trace is refused before it is parsed: printing it would end the
// program. Brackets in texts do not count, and a name that is none is no name.
TEST(ChromeTrace, LimitsDepth) {
  const std::string deep(200'000, '['), close(200'000, ']');
  auto named = [](const std::string &name) {
    return R"([{"ph": "X", "ts": 1, "dur": 1, "name": )" + name + "}]";
  };
  EXPECT_EQ(failure(named(deep + close)), "t.json: expected at most 32 levels");
  const auto text = parseChromeTrace(named("\"\\\"" + deep + "\""), "t.json");
  ASSERT_TRUE(text) << text.status().message();
  EXPECT_EQ(text->events[0].name, "\"" + deep);
  const auto list = parseChromeTrace(named("[[1]]"), "t.json");
  ASSERT_TRUE(list) << list.status().message();
  EXPECT_EQ(list->events[0].name, "");
  EXPECT_EQ(failure(R"([{"ph": "X", "ts": [[1]], "dur": 1}])"),
            "t.json: event 1: expected 'ts' in microseconds, got array");
}

} // namespace
} // namespace syncline::files
