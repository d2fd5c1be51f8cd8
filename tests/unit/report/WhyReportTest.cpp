// An explanation as text.
#include "frontend/report/WhyReport.h"
#include "tests/unit/report/Contains.h"

#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::report;
using namespace syncline::explain;

namespace {

/// 'fc' by factors, from 10 to 12 ms, reconstructed at 20 ms; by the ring it would end at 25 ms.
Explanation byFactors() {
  Explanation explanation;
  explanation.chosen = Scheme::factors;
  explanation.message.layers = {0};
  explanation.message.isFactors = true;
  explanation.message.bytes = 4000;
  explanation.message.start = 0.010;
  explanation.message.end = 0.012;
  explanation.message.reconstructed = 0.020;
  explanation.alternatives = {{.scheme = Scheme::ring,
                               .isChosen = false,
                               .alone = {0.005, 0, 12000, 0.015},
                               .bucket = {},
                               .finish = 0.025},
                              {.scheme = Scheme::factors,
                               .isChosen = true,
                               .alone = {0.002, 0.003, 1000, 0.020},
                               .bucket = {},
                               .finish = 0.020}};
  explanation.byteRule =
      ByteRule{.factorBytes = 1000, .serverBytes = 12000, .scheme = Scheme::factors};
  return explanation;
}

WhyContext context() {
  return {.gradient = "fc.weight",
          .bytes = 4000,
          .ready = 0.009,
          .planner = "optimal",
          .optimal = true,
          .carrier = "",
          .mates = {},
          .piggybacks = {},
          .updates = 0};
}

} // namespace

// The limit is 2V · 4d / (4d + 8) rows of all ranks.
TEST(WhyReport, RuleOfRows) {
  const RowRule few{.scheme = Scheme::sparse, .rows = 8, .ranks = 4, .table = 36, .rowBytes = 16};
  EXPECT_EQ(rowRule(few, Scheme::sparse),
            "rule of rows: 8 rows on each of 4 ranks are 32; up to 48, twice the table's 36 less "
            "what their numbers take, sparse moves fewer bytes than a ring: sparse, as chosen\n");
  const RowRule many{.scheme = Scheme::sparse, .rows = 8, .ranks = 4, .table = 20, .rowBytes = 16};
  EXPECT_TRUE(contains(rowRule(many, Scheme::tree), "up to 26, twice"));
  EXPECT_TRUE(contains(rowRule(many, Scheme::tree), ": ring, as chosen\n"));
  EXPECT_TRUE(contains(rowRule(many, Scheme::sparse), "decided otherwise\n"));
}

TEST(WhyReport, Heading) {
  EXPECT_TRUE(
      whyReport(byFactors(), context())
          .starts_with("fc.weight: 4000 B, ready at 9.00 ms, by factors alone\n"
                       "on the channel from 10.0 ms to 12.0 ms, reconstructed at 20.0 ms; chosen "
                       "by planner optimal, proved optimal\n\n"));
  WhyContext requested = context();
  requested.isRequested = true;
  EXPECT_TRUE(contains(whyReport(byFactors(), requested),
                       "planner optimal, proved optimal for the schemes requested\n\n"));
  WhyContext unproved = context();
  unproved.optimal = false;
  unproved.mates = {"conv2", "conv1"};
  const std::string text = whyReport(byFactors(), unproved);
  EXPECT_TRUE(contains(text, "by factors in a bucket of 4000 B with conv2 .. conv1 (2)\n"));
  EXPECT_FALSE(contains(text, "proved"));
}

TEST(WhyReport, OfAPiggyback) {
  Explanation explanation = byFactors();
  explanation.isPiggyback = true;
  WhyContext piggyback = context();
  piggyback.gradient = "fc.bias";
  piggyback.carrier = "fc.weight";
  EXPECT_TRUE(contains(whyReport(explanation, piggyback),
                       "by factors with fc.weight, whose factors it is computed from\n"));
  WhyContext carrier = context();
  carrier.piggybacks = {"fc.bias"};
  EXPECT_TRUE(contains(whyReport(byFactors(), carrier), "by factors alone, and with it fc.bias\n"));
}

TEST(WhyReport, OfALoneRank) {
  EXPECT_TRUE(whyReport(byFactors(), context())
                  .ends_with("\na lone rank has nothing to send, whatever the choice\n"));
}

// The chosen scheme is marked; a bucket's columns are there where there is one.
TEST(WhyReport, TableOfSchemes) {
  EXPECT_TRUE(contains(whyReport(byFactors(), context()),
                       "   scheme   channel  reconstruct   traffic  exists at  best step\n"
                       "   ring     5.00 ms               11.7 KiB    15.0 ms   25.00 ms\n"
                       "*  factors  2.00 ms      3.00 ms    1000 B    20.0 ms   20.00 ms\n"))
      << whyReport(byFactors(), context());
  Explanation merged = byFactors();
  merged.alternatives[0].bucket = MessageCost{0.006, 0, 20000, 0.016};
  EXPECT_TRUE(
      contains(whyReport(merged, context()),
               "exists at   bucket  it exists at  best step\n"
               "   ring     5.00 ms               11.7 KiB    15.0 ms  6.00 ms       16.0 ms   "
               "25.00 ms\n"))
      << whyReport(merged, context());
}

// Updates follow the finish and are part of the step.
TEST(WhyReport, Savings) {
  EXPECT_TRUE(contains(whyReport(byFactors(), context()),
                       "it saves 5.00 ms (25.00 %) over the next best, ring\n"));
  WhyContext late = context();
  late.updates = 0.080;
  EXPECT_TRUE(contains(whyReport(byFactors(), late), "it saves 5.00 ms (5.00 %) over"));
  Explanation same = byFactors();
  same.alternatives[0].finish = 0.020;
  EXPECT_TRUE(contains(whyReport(same, context()),
                       "it makes no difference: by ring, the next best, the step ends at the same "
                       "time\n"));
  Explanation worse = byFactors();
  worse.alternatives[0].finish = 0.010;
  EXPECT_TRUE(contains(whyReport(worse, context()),
                       "it costs 10.0 ms (50.00 %): by ring the step could end earlier\n"));
  Explanation only = byFactors();
  only.alternatives.erase(only.alternatives.begin());
  EXPECT_TRUE(contains(whyReport(only, context()), "nothing else is offered for it"));
}

TEST(WhyReport, RuleOfBytes) {
  EXPECT_TRUE(contains(whyReport(byFactors(), context()),
                       "factors move 1000 B, servers 11.7 KiB: factors, as chosen\n"));
  Explanation other = byFactors();
  other.byteRule = ByteRule{.factorBytes = 30000, .serverBytes = 12000, .scheme = Scheme::ring};
  EXPECT_TRUE(contains(whyReport(other, context()),
                       ": ring, with which the step would end at best 5.00 ms (25.00 %) later\n"));
  other.byteRule =
      ByteRule{.factorBytes = 30000, .serverBytes = 12000, .scheme = Scheme::parameterServer};
  EXPECT_TRUE(contains(whyReport(other, context()), ": parameter-server, not as chosen\n"));
  other.byteRule.reset();
  EXPECT_TRUE(contains(whyReport(other, context()), "has nothing to compare"));
}

TEST(WhyReport, Crossovers) {
  Explanation explanation = byFactors();
  Axis bandwidth{.kind = Axis::Kind::bandwidth, .range = {1.25e9, 1.25e8, 1.25e10}};
  bandwidth.crossovers.above = {2.5e9, Scheme::ring};
  Axis batch{.kind = Axis::Kind::batch, .range = {32, 1, 64, 1}};
  Axis nodes{.kind = Axis::Kind::nodes, .range = {8, 2, 1024, 1}};
  nodes.crossovers.below = {4, Scheme::tree};
  nodes.crossovers.above = {12, Scheme::parameterServer};
  explanation.axes = {bandwidth, batch, nodes};
  EXPECT_TRUE(whyReport(explanation, context())
                  .ends_with("\n"
                             "where planner optimal would choose otherwise, all else as it is:\n"
                             "  bandwidth, 10 Gb/s in the plan: from 20 Gb/s on: ring\n"
                             "  batch, 32 samples in the plan: at none between 1 sample and 64 "
                             "samples\n"
                             "  nodes, 8 nodes in the plan: up to 4 nodes: tree; from 12 nodes on: "
                             "parameter-server\n"))
      << whyReport(explanation, context());
}

// A planner that asks Z3 was not asked about other clusters.
TEST(WhyReport, SaysThatNothingWasVaried) {
  Explanation explanation = byFactors();
  explanation.plansAnew = false;
  WhyContext why = context();
  why.planner = "z3:messages=4";
  EXPECT_TRUE(whyReport(explanation, why)
                  .ends_with("\nplanner z3:messages=4 plans only in 'syncline compile', so no "
                             "other cluster or batch was tried\n"));
}

// What is measured holds for its own machines.
TEST(WhyReport, SaysWhatCannotBeVaried) {
  Explanation explanation = byFactors();
  explanation.axes = {{.kind = Axis::Kind::batch, .range = {32, 1, 64, 1}}};
  explanation.measured = {Scheme::ring, Scheme::tree};
  EXPECT_TRUE(contains(whyReport(explanation, context()),
                       "  bandwidth, nodes: the cluster file states measured times (ring, tree), "
                       "which hold for its own links and ranks\n"));
}
