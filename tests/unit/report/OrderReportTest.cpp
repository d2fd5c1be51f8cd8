// What the report of a plan says of an order.
#include "tests/unit/report/SmallPlan.h"

#include <gtest/gtest.h>

using namespace syncline::report;

/// The small plan with an order: "conv.weight" overtakes the rest of "fc.weight".
static json orderedPlan() {
  json plan = smallPlan();
  plan["overlap"] = "step";
  plan["optimal"] = false;
  plan["buckets"][0]["cut"] = {0, 512};
  plan["buckets"].push_back({{"id", 2},
                             {"members", {"fc.weight"}},
                             {"bytes", 512},
                             {"cut", {1536, 0}},
                             {"scheme", "ring"},
                             {"traffic", 1536},
                             {"ready", 0.001},
                             {"start", 0.003},
                             {"end", 0.0035},
                             {"reconstructed", 0.0035},
                             {"exposed", 0.0}});
  plan["layers"] = {{{"name", "fc.weight"}, {"bytes", 2048}, {"ready", 0.001}, {"tail", 0.0002}},
                    {{"name", "fc.bias"}, {"bytes", 512}, {"ready", 0.001}, {"tail", 0.0002}},
                    {{"name", "conv.weight"}, {"bytes", 1024}, {"ready", 0.002}, {"tail", 0.0005}}};
  plan["certificate"] = {{"bound", 0.0034},   {"ready", 0.001},
                         {"tail", 0.0002},    {"lines", {1e-4, 1e-9}},
                         {"compute", 0.0025}, {"layers", {"fc.weight", "fc.bias", "conv.weight"}}};
  plan["predicted"]["planner"]["gap"] = 0.029;
  return plan;
}

TEST(PlanReport, SaysWhatAnOrderDoes) {
  const std::string report = reportOf(orderedPlan());
  EXPECT_TRUE(contains(report, "messages are under way for 500 us behind the backward pass and "
                               "1.50 ms after it, of which computation waits 1.00 ms\n"))
      << report;
  EXPECT_TRUE(contains(report,
                       "1 of 3 messages overtake others, because the next forward pass needs them "
                       "earlier: bucket 1 (conv.weight) leaves before bucket 2, which was ready "
                       "earlier but is needed later\n2 messages carry a part of a gradient only\n"))
      << report;
  EXPECT_TRUE(contains(report, "fc.weight .. fc.bias (2), cut")) << report;
}

TEST(PlanReport, GivesTheProofOfAnOrder) {
  EXPECT_TRUE(contains(
      reportOf(orderedPlan()),
      "in the planner's model (messages take nothing from computation) a step takes 4.50 ms, and "
      "no "
      "order has a step below 3.40 ms: gap 2.90 %\n"
      "proof: fc.weight .. conv.weight (3) are ready 1.00 ms after the backward pass begins or "
      "later, need the channel for 2.20 ms from then on, and 200 us of the next forward pass "
      "follow them\n"))
      << reportOf(orderedPlan());
  json plan = orderedPlan();
  plan["certificate"]["layers"] = {"fc.weight"};
  EXPECT_TRUE(
      contains(reportOf(plan),
               "\nproof: fc.weight is ready 1.00 ms after the backward pass begins or later, "
               "needs the channel for 2.20 ms from then on, and 200 us of the next forward "
               "pass follow it\n"))
      << reportOf(plan);
  plan["certificate"]["compute"] = 0.0034;
  EXPECT_TRUE(contains(reportOf(plan), "\nproof: computation alone takes 3.40 ms\n"));
}

/// Where the ways of some gradients are told apart, the case that proves least is given.
TEST(PlanReport, GivesTheShortestCaseOfAProof) {
  json plan = orderedPlan();
  plan["certificate"]["by_factors"] = {"fc.weight"};
  plan["certificate"]["in_buckets"] = json::array();
  plan["certificate"]["others"] = {plan["certificate"]};
  EXPECT_TRUE(contains(
      reportOf(plan),
      "proof: of 2 cases the shortest one has fc.weight by factors: fc.weight .. conv.weight (3) "
      "are ready 1.00 ms after the backward pass begins or later, need the channel for 2.20 ms "
      "from then on, and 200 us of the next forward pass and of reconstruction follow them\n"))
      << reportOf(plan);
  plan["certificate"]["orders"] = json::array({json::array({"fc.weight", "conv.weight"})});
  EXPECT_TRUE(contains(reportOf(plan), "has fc.weight by factors, fc.weight before conv.weight: "))
      << reportOf(plan);
  EXPECT_TRUE(contains(reportOf(plan), " 200 us of later messages, the next forward pass and of "))
      << reportOf(plan);
}
