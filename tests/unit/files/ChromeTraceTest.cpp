// Traces of several writers.
#include "frontend/files/ChromeTrace.h"
#include "tests/support/Results.h"
#include "tests/support/TemporaryFolder.h"

#include <gtest/gtest.h>

#include <filesystem>

#include <zlib.h>

namespace syncline::files {
namespace {

std::string traceFailure(const std::string &text) {
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
  EXPECT_EQ(traceFailure("{"),
            "t.json: not valid JSON, as a trace is: it ends at byte 1, where more must follow");
  EXPECT_EQ(traceFailure("{}"), "t.json: expected a trace with 'traceEvents', got none");
  EXPECT_EQ(traceFailure("3"), "t.json: expected a trace with 'traceEvents', got none");
  EXPECT_EQ(traceFailure(R"([{"ph": "M"}, {"ph": "X", "ts": 1}])"),
            "t.json: event 2 at byte 14: expected 'dur' in microseconds, got none");
  EXPECT_EQ(traceFailure(R"([{"ph": "X", "ts": 1, "dur": -2}])"),
            "t.json: event 1 at byte 1: expected 'dur' in microseconds, got -2");
  EXPECT_EQ(traceFailure(R"([{"ph": "X", "ts": "now", "dur": 2}])"),
            "t.json: event 1 at byte 1: expected 'ts' in microseconds, got \"now\"");
}

// What nests deeper than any trace is refused before it is parsed: printing it would end the
// program. Brackets in texts do not count, and a name that is none is no name.
TEST(ChromeTrace, LimitsDepth) {
  const std::string deep(200'000, '['), close(200'000, ']');
  auto named = [](const std::string &name) {
    return R"([{"ph": "X", "ts": 1, "dur": 1, "name": )" + name + "}]";
  };
  EXPECT_EQ(traceFailure(named(deep + close)), "t.json: expected at most 32 levels");
  const auto text = parseChromeTrace(named("\"\\\"" + deep + "\""), "t.json");
  ASSERT_TRUE(text) << text.status().message();
  EXPECT_EQ(text->events[0].name, "\"" + deep);
  const auto list = parseChromeTrace(named("[[1]]"), "t.json");
  ASSERT_TRUE(list) << list.status().message();
  EXPECT_EQ(list->events[0].name, "");
  EXPECT_EQ(traceFailure(R"([{"ph": "X", "ts": [[1]], "dur": 1}])"),
            "t.json: event 1 at byte 1: expected 'ts' in microseconds, got array");
}

std::string event(const std::string &name) {
  return R"({"ph": "X", "ts": 1, "dur": 1, "name": ")" + name + "\"}";
}

/// Names of the events, and what is said of those that are left out.
std::pair<std::string, std::string> namesIn(const std::string &text) {
  const auto trace = parseChromeTrace(text, "t.json");
  if (!trace)
    return {trace.status().message(), ""};
  std::string names;
  for (const TraceEvent &found : trace->events)
    names += found.name;
  return {names, trace->leftOut};
}

// One broken event costs itself alone, whatever is broken in it.
TEST(ChromeTrace, LeavesBrokenEventsOut) {
  for (const std::string &broken :
       {event("\x01"), event("C:\\Users"), event("\xff"), event("C:\\"),
        std::string(R"({"ph": "X", "ts": 1, "name": "x"})"), std::string(R"({"ph": "X" "ts": 1})"),
        std::string("{\"ph\": \"X\", \"name\": \"C:\\\",\n\"ts\": 1,\n\"args\": {\n}\n}")}) {
    const auto [names, leftOut] = namesIn("{\"traceEvents\": [\n" + event("a") + ",\n" + broken +
                                          ",\n" + event("b") + "\n], \"otherData\": {}}");
    EXPECT_EQ(names, "ab") << broken;
    EXPECT_EQ(leftOut.find("1 of 3 complete events are broken and left out, the first: event 2 at "
                           "byte 63: "),
              0u)
        << broken << ": " << leftOut;
  }
}

// PyTorch writes numbers that JSON has not.
TEST(ChromeTrace, ReadsNan) {
  const auto [names, leftOut] = namesIn(
      R"([{"ph": "X", "ts": 1, "dur": 1, "name": "NaN", "args": {"a": NaN, "b": -Infinity}}])");
  EXPECT_EQ(names, "NaN");
  EXPECT_EQ(leftOut, "");
}

// The format allows a bare list to lack its end, but not within an event.
TEST(ChromeTrace, NamesThePlaceOfTheCut) {
  EXPECT_EQ(namesIn("[" + event("a") + ",\n").first, "a");
  EXPECT_EQ(traceFailure("[" + event("a") + ",\n{\"ph\": \"X\""),
            "t.json: not valid JSON, as a trace is: it ends at byte 56, within or behind event 2, "
            "where more must follow");
  EXPECT_EQ(traceFailure("{\"traceEvents\": [" + event("a")),
            "t.json: not valid JSON, as a trace is: it ends at byte 60, within or behind event 1, "
            "where more must follow");
  EXPECT_EQ(traceFailure("[] x"), "t.json: more follows the trace at byte 3");
  EXPECT_EQ(namesIn("\xef\xbb\xbf[" + event("a") + "]").first, "a");
}

TEST(ChromeTrace, ReadsGzip) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("t.json.gz"), text = "[" + event("a") + "]";
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  const auto trace = readChromeTrace(path);
  ASSERT_TRUE(trace) << trace.status().message();
  EXPECT_EQ(trace->events.size(), 1u);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 12);
  EXPECT_EQ(test::messageOf(readChromeTrace(path)).find(path + ": cannot read: "), 0u);
  EXPECT_EQ(test::messageOf(readChromeTrace(folder.file("none"))).find("cannot open"),
            folder.file("none").size() + 2);
}

} // namespace
} // namespace syncline::files
