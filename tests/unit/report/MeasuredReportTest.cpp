// Predictions beside measurements: medians, errors, hints.
#include "frontend/report/MeasuredReport.h"
#include "tests/support/Results.h"
#include "tests/unit/report/Contains.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace syncline;
using namespace syncline::report;
using nlohmann::json;

namespace {

/// Computes for 10 ms; two messages of 2 ms each, at 6 and 10 ms; updates 1 ms.
json plan() {
  return json::parse(R"({"name": "net", "ranks": 2, "hashes": {"plan": "abc"},
    "cluster": {"interference": 1},
    "buckets": [
      {"id": 0, "members": ["w"], "scheme": "ring", "ready": 0.006, "start": 0.006, "end": 0.008},
      {"id": 1, "members": ["v"], "scheme": "tree", "ready": 0.010, "start": 0.010, "end": 0.012}],
    "predicted": {"step": 0.013, "backward_end": 0.010, "updates": 0.001}})");
}

files::TraceEvent event(const char *category, int rank, double begin, double end, int step = 0) {
  files::TraceEvent e;
  e.category = category;
  e.rank = rank;
  e.step = step;
  e.begin = begin;
  e.seconds = end - begin;
  return e;
}

files::TraceEvent message(int rank, int bucket, double begin, double end) {
  files::TraceEvent e = event("message", rank, begin, end);
  e.bucket = bucket;
  e.ready = begin;
  return e;
}

/// A run that is as predicted, on both ranks.
files::ChromeTrace asPredicted() {
  files::ChromeTrace trace;
  trace.schema = "syncline-trace";
  trace.plan = "abc";
  trace.kind = "measured";
  for (const int rank : {0, 1}) {
    files::TraceEvent layer = event("compute", rank, 5, 5.010);
    layer.layer = "conv";
    layer.phase = "backward";
    trace.events.push_back(layer);
    trace.events.push_back(message(rank, 0, 5.006, 5.008));
    trace.events.push_back(message(rank, 1, 5.010, 5.012));
    trace.events.push_back(event("update", rank, 5.012, 5.013));
  }
  return trace;
}

Comparison compare(const files::ChromeTrace &trace, double interference = 1) {
  json predicted = plan();
  predicted["cluster"]["interference"] = interference;
  auto comparison = compareMeasured(predicted, {{"conv", 0.010}}, trace, 0.05, "t.json");
  EXPECT_TRUE(comparison) << comparison.status().message();
  return comparison ? *comparison : Comparison();
}

std::string failure(const files::ChromeTrace &trace) {
  return test::messageOf(compareMeasured(plan(), {}, trace, 0.05, "t.json"));
}

} // namespace

TEST(Measured, AsPredicted) {
  const Comparison c = compare(asPredicted());
  EXPECT_NEAR(c.worst, 0, 1e-9);
  EXPECT_TRUE(contains(c.report, "1 steps of 2 ranks, measured")) << c.report;
  EXPECT_TRUE(contains(c.report, "nothing to measure again")) << c.report;
}

// A slow network: its scheme is named, the layers are not; the worst bucket comes first.
TEST(Measured, NamesSchemes) {
  files::ChromeTrace trace = asPredicted();
  for (files::TraceEvent &e : trace.events)
    if (e.category == "message" && e.bucket == 1)
      e.seconds *= 2;
  const Comparison c = compare(trace);
  EXPECT_EQ(c.whose, "bucket 1");
  EXPECT_NEAR(c.worst, 2.0 / 12, 1e-9);
  EXPECT_TRUE(contains(c.report, "messages by 'tree' take 100.00 % more")) << c.report;
  EXPECT_FALSE(contains(c.report, "messages by 'ring' take")) << c.report;
  EXPECT_FALSE(contains(c.report, "layers take")) << c.report;
  EXPECT_LT(c.report.find("tree"), c.report.find("ring")) << c.report;
}

// Slow layers and updates are told apart.
TEST(Measured, NamesLayersAndUpdates) {
  files::ChromeTrace trace = asPredicted();
  for (files::TraceEvent &e : trace.events)
    if (e.category == "compute" || e.category == "update")
      e.seconds *= 1.5;
  const Comparison c = compare(trace);
  EXPECT_TRUE(contains(c.report, "layers take 50.00 % more than predicted, above all 'conv' "
                                 "(+5.00 ms)"))
      << c.report;
  EXPECT_TRUE(contains(c.report, "updates take 50.00 % more")) << c.report;
  EXPECT_FALSE(contains(c.report, "messages by")) << c.report;
}

// What messages cost the operations beside them is the cluster's to say, not the layers': 2 ms of
// 11 beside a message that makes operations take twice as long would be 1.
TEST(Measured, TakesMessagesOffTheLayersBesideThem) {
  files::ChromeTrace trace = asPredicted();
  for (files::TraceEvent &e : trace.events)
    if (e.category == "compute")
      e.seconds = 0.011;
    else if (e.category == "message" && e.bucket == 1)
      e.begin = 5.011;
  EXPECT_TRUE(contains(compare(trace).report, "layers take 10.00 % more")) << compare(trace).report;
  EXPECT_FALSE(contains(compare(trace, 2).report, "layers take")) << compare(trace, 2).report;
}

// What they cost convolutions and products may be stated apart from what they cost all others.
TEST(Measured, TakesOffWhatTheOperationsClassLoses) {
  files::ChromeTrace trace = asPredicted();
  for (files::TraceEvent &e : trace.events)
    if (e.category == "compute")
      e.seconds = 0.011;
    else if (e.category == "message" && e.bucket == 1)
      e.begin = 5.011;
  json predicted = plan();
  predicted["cluster"]["products_interference"] = 2;
  for (const char *name : {"convBackwardData", "batchNorm"}) {
    for (files::TraceEvent &e : trace.events)
      e.name = name;
    const auto comparison = compareMeasured(predicted, {{"conv", 0.010}}, trace, 0.05, "t.json");
    ASSERT_TRUE(comparison) << comparison.status().message();
    EXPECT_EQ(contains(comparison->report, "layers take 10.00 % more"),
              name == std::string("batchNorm"))
        << comparison->report;
  }
}

// A rank that is late with a message does not make the network slow.
TEST(Measured, DoesNotBlameTheNetworkForALateRank) {
  files::ChromeTrace trace = asPredicted();
  for (files::TraceEvent &e : trace.events)
    if (e.category == "message" && e.bucket == 1 && e.rank == 0) {
      e.begin -= 0.002;
      e.seconds += 0.002;
    }
  EXPECT_FALSE(contains(compare(trace).report, "messages by"));
}

TEST(Measured, RefusesForeignTraces) {
  files::ChromeTrace trace = asPredicted();
  trace.plan = "other";
  EXPECT_EQ(failure(trace), "'t.json': the trace is of another plan");
  trace = asPredicted();
  trace.schema = "";
  EXPECT_EQ(failure(trace), "'t.json': expected a trace that 'syncline run --trace' wrote");
  trace = asPredicted();
  trace.events.clear();
  EXPECT_EQ(failure(trace), "'t.json': the trace has no steps");
  trace = asPredicted();
  std::erase_if(trace.events, [](const files::TraceEvent &e) { return e.bucket == 1; });
  EXPECT_EQ(failure(trace), "'t.json': the trace has no message of bucket 1");
}

// What is wrong with the plan is not blamed on the trace.
TEST(Measured, RefusesForeignPlans) {
  const auto failed = compareMeasured(nlohmann::json::object(), {}, asPredicted(), 0.05, "t.json");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.status().message(),
            "the plan does not follow its schema: key 'hashes' not found");
}
