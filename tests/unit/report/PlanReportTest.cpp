// A plan for people: what is said, and what is refused.
#include "tests/unit/report/SmallPlan.h"

#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::report;
using nlohmann::json;

TEST(PlanReport, SaysWhatThePlanIs) {
  EXPECT_TRUE(
      contains(reportOf(smallPlan()), "plan small, planner optimal, 4 ranks, batch 16 a rank\n"));
}

// Exposed is how long computation waits for a message, as the plan says.
TEST(PlanReport, ListsBuckets) {
  const std::string report = reportOf(smallPlan());
  EXPECT_TRUE(contains(report, "fc.weight .. fc.bias (2)")) << report;
  EXPECT_TRUE(contains(report, "1.50 ms      0 s\n")) << report;
  EXPECT_TRUE(contains(report, "3.00 ms   750 us\n")) << report;
}

// What messages cost classes of operations is the cluster's to say, or a scheme's.
TEST(PlanReport, ClassesOfOperations) {
  json plan = smallPlan();
  plan["cluster"] = json::parse(R"({"interference": 1.4, "overrides": [], "collectives": [
    {"scheme": "ring", "cost": {"kind": "affine"}},
    {"scheme": "tree", "cost": {"kind": "affine"}, "interference": 3},
    {"scheme": "factors", "cost": {"kind": "affine"}}]})");
  EXPECT_FALSE(contains(reportOf(plan), "convolutions and products")) << reportOf(plan);
  plan["cluster"]["products_interference"] = 1.25;
  plan["cluster"]["collectives"][2]["memory_interference"] = 2;
  const char *lines =
      "\nbeside messages convolutions and products take 1.25 times as long, other operations 1.4 "
      "times\nbeside messages by tree convolutions and products take 3 times as long, other "
      "operations 3 times\nbeside messages by factors convolutions and products take 1.25 times as "
      "long, other operations 2 times\nthe bound counts the least of these\n";
  EXPECT_TRUE(contains(reportOf(plan), lines)) << reportOf(plan);
  // The layers of a trace have no class, nor have those of a model that is planned by shapes alone.
  plan["runnable"] = false;
  EXPECT_FALSE(contains(reportOf(plan), "convolutions and products")) << reportOf(plan);
  plan["provenance"] = {{"times", "trace"}};
  EXPECT_TRUE(contains(reportOf(plan), "as the layer trace says")) << reportOf(plan);
}

TEST(PlanReport, Totals) {
  const std::string report = reportOf(smallPlan());
  EXPECT_TRUE(contains(report, "2 messages, 3072 B of gradients, 9216 B to and from a node\n"))
      << report;
  EXPECT_TRUE(contains(report,
                       "\npredicted step 4.00 ms in virtual time: backward ends at 2.00 ms, "
                       "communication at 3.00 ms, exposed 1.00 ms (25.00 %), updates take "
                       "500 us\n"))
      << report;
  json plan = smallPlan();
  plan["predicted"]["overhead"] = 30e-6;
  EXPECT_TRUE(contains(reportOf(plan), "updates take 500 us, 30.0 us are outside of operations\n"))
      << reportOf(plan);
}

// A step of several micro-batches is taken apart, and the bound is that of the last one.
TEST(PlanReport, SaysHowAStepOfSeveralMicroBatchesIsMadeUp) {
  json plan = smallPlan();
  EXPECT_FALSE(contains(reportOf(plan), "micro-batch of")) << reportOf(plan);
  const double last = plan["predicted"]["step"];
  plan["accumulate"] = 4;
  plan["batch"] = 8;
  plan["predicted"]["micro_batch"] = 0.002;
  plan["predicted"]["step"] = last + 3 * 0.002;
  plan["predicted"]["planner"]["earlier"] = 0.0054;
  const std::string report = reportOf(plan);
  EXPECT_TRUE(contains(report, "4 micro-batches a step of 8 a rank")) << report;
  EXPECT_TRUE(contains(report,
                       ": 3 micro-batches of 2.00 ms each and a last one of 4.00 ms. In the last "
                       "one backward ends at"))
      << report;
  EXPECT_TRUE(contains(report,
                       "\na step adds up the gradients of 4 micro-batches: sums travel with "
                       "the last one\n"))
      << report;
  EXPECT_TRUE(contains(report, "of the last micro-batch, and no plan")) << report;
  EXPECT_TRUE(contains(report, ", behind 3 micro-batches that take 5.40 ms or more: ")) << report;
  plan["buckets"][0]["scheme"] = "factors";
  plan["predicted"]["gathering"] = 0.02;
  EXPECT_TRUE(contains(reportOf(plan),
                       "travel with the last one, messages by factors with each; with the messages "
                       "that are best for steps of one batch it would take 20.0 ms\n"))
      << reportOf(plan);
}

// What clipping costs is one sentence.
TEST(PlanReport, SaysWhatClippingCosts) {
  json plan = smallPlan();
  EXPECT_FALSE(contains(reportOf(plan), "clip")) << reportOf(plan);
  plan["clip_norm"] = 0.5;
  plan["predicted"]["unclipped"] = 0.0032;
  EXPECT_TRUE(contains(reportOf(plan), "\ngradients are clipped to a norm of 0.5, so that all "
                                       "updates follow the last message: without clipping the step "
                                       "would be 3.20 ms (clipping adds 25.00 %)\n"))
      << reportOf(plan);
}

// The kinds of memory, largest first; a trace has none.
TEST(PlanReport, SaysWhatMemoryHolds) {
  json plan = smallPlan();
  EXPECT_FALSE(contains(reportOf(plan), "memory of a rank"));
  plan["memory"] = {{"arena", 5 << 20}, {"parameters", 1 << 20}, {"gradients", 1 << 20},
                    {"state", 0},       {"exchange", 0},         {"optimizer", 2 << 20}};
  plan["inputs"] = json::array({{{"name", "x"}, {"type", "f32"}, {"shape", {16, 3, 32, 32}}}});
  plan["target"] = {{"name", "label"}, {"type", "i64"}, {"shape", {16}}};
  EXPECT_TRUE(contains(reportOf(plan),
                       "\nmemory of a rank 9.19 MiB: arena 5.00 MiB, optimizer 2.00 MiB, "
                       "gradients 1.00 MiB, parameters 1.00 MiB, samples 192 KiB\n"))
      << reportOf(plan);
  plan["precision"] = "bf16";
  EXPECT_TRUE(contains(reportOf(plan), "\nmemory of a rank 9.19 MiB, laid out for bf16: arena"))
      << reportOf(plan);
}

// What is needed stands beside what there is, with what is not counted.
TEST(PlanReport, SaysWhetherItFits) {
  json plan = smallPlan();
  plan["device_memory"] = {{"needed", 3 << 20}, {"size", 8 << 20}, {"activations", false}};
  EXPECT_TRUE(contains(reportOf(plan), "\na rank needs at least 3.00 MiB of its device's 8.00 MiB: "
                                       "activations are not counted\n"))
      << reportOf(plan);
  plan["memory"] = {{"arena", 5 << 20}};
  plan["device_memory"]["activations"] = true;
  EXPECT_TRUE(contains(reportOf(plan), "\nmemory of a rank 5.00 MiB of its device's 8.00 MiB: "
                                       "arena 5.00 MiB\n"))
      << reportOf(plan);
  plan["device_memory"]["size"] = nullptr;
  EXPECT_TRUE(contains(reportOf(plan), "\nmemory of a rank 5.00 MiB: arena")) << reportOf(plan);
}

TEST(PlanReport, SaysThatAStepForGpusIsNotCompiled) {
  json plan = smallPlan();
  plan["nccl"] = true;
  plan["backend"] = "cuda";
  plan["hashes"]["files"]["step.cu"] = "aa";
  EXPECT_TRUE(contains(reportOf(plan), "\nstep.cu is not compiled, because no CUDA compiler was"))
      << reportOf(plan);
  plan["hashes"]["files"]["step.so"] = "bb";
  EXPECT_FALSE(contains(reportOf(plan), "not compiled")) << reportOf(plan);
}

// Four ranks of 16 samples in 4 ms; one device alone would take 3.
TEST(PlanReport, SaysHowFastItTrainsAndHowItScales) {
  json plan = smallPlan();
  EXPECT_TRUE(contains(reportOf(plan), "\n16000 samples/s on 4 ranks\n")) << reportOf(plan);
  plan["predicted"]["alone"] = 0.003;
  EXPECT_TRUE(contains(reportOf(plan),
                       "\n16000 samples/s on 4 ranks, scaling efficiency 75.00 % of one device "
                       "alone (3.000 ms a step)\n"))
      << reportOf(plan);
}

// Where times come from stands below, and who holds the others up.
TEST(PlanReport, SaysWhereTimesComeFrom) {
  json plan = smallPlan();
  plan["cluster"] = json::parse(R"({
    "device": {"compute": 1e9, "memory": 1e9}, "link": null, "inside": null, "collectives": [],
    "overrides": [{"nodes": [2], "slowdown": 2.0, "link": null}]})");
  plan["provenance"] = json::parse(R"({"times": "profile", "profile": "P.json", "operations": 9,
    "measured": 9, "device": null, "efficiency": 1.0})");
  EXPECT_TRUE(reportOf(plan).ends_with(
      "\ncompute: profile P.json, 9 of 9 operations\n"
      "links: nominal, by the cluster file's bandwidth and latency\n"
      "node 2 computes 2 times as long (overrides of the cluster file): every step waits for "
      "it\n"))
      << reportOf(plan);
  plan["provenance"]["threads"] = 2;
  EXPECT_TRUE(contains(reportOf(plan),
                       "\ncompute: profile P.json, 9 of 9 operations, by 2 threads a rank\n"))
      << reportOf(plan);
}

// What is proved is said of the planner's finish, not of the predicted step.
TEST(PlanReport, SaysWhichNumberIsThePlanners) {
  const std::string report = reportOf(smallPlan());
  EXPECT_TRUE(contains(
      report, "\nin the planner's model (messages take nothing from computation, updates come "
              "last) all gradients exist at 3.50 ms, and no plan finishes before 3.40 ms: "
              "optimal, proved by the certificate\n"))
      << report;
}

// A tree's message is simulated shorter than the planner's formula, so that a step may end before
// the bound that holds for formulas.
TEST(PlanReport, SaysWhyAStepEndsBeforeTheBound) {
  const std::string why = "\nthe predicted step is shorter, since messages are simulated there, "
                          "and the planner's formula for a tree's may be longer\n";
  json plan = smallPlan();
  plan["buckets"][1]["scheme"] = "tree";
  EXPECT_FALSE(contains(reportOf(plan), why)) << reportOf(plan);
  plan["predicted"]["step"] = 0.00339;
  EXPECT_TRUE(contains(reportOf(plan), "3.40 ms: optimal, proved by the certificate" + why))
      << reportOf(plan);
  plan["predicted"]["step"] = 0.0034 * (1 - 1e-12); // rounding
  EXPECT_FALSE(contains(reportOf(plan), why)) << reportOf(plan);
}

// A proof holds up to rounding, which must not print a bound behind the plan's own end.
TEST(PlanReport, PrintsNoBoundBehindTheEnd) {
  json plan = smallPlan();
  plan["predicted"]["planner"]["finish"] = 0.003495 * (1 - 1e-12);
  plan["predicted"]["planner"]["bound"] = 0.003495 * (1 + 1e-12);
  EXPECT_TRUE(contains(reportOf(plan), "all gradients exist at 3.49 ms, and no plan finishes "
                                       "before 3.49 ms: "))
      << reportOf(plan);
}

TEST(PlanReport, NamesEveryMemberWhenAsked) {
  EXPECT_FALSE(contains(reportOf(smallPlan()), "  fc.bias\n"));
  EXPECT_TRUE(contains(reportOf(smallPlan(), true), "  fc.bias\n"));
}

// Servers of their own are processes to start besides the ranks.
TEST(PlanReport, CountsServers) {
  json plan = smallPlan();
  plan["servers"] = 2;
  EXPECT_TRUE(contains(reportOf(plan), ", 4 ranks and 2 servers, batch 16 a rank\n"));
  plan["servers"] = 1;
  EXPECT_TRUE(contains(reportOf(plan), ", 4 ranks and 1 server, batch"));
}

// A message by factors ends before its gradients exist; other plans do not have the column.
TEST(PlanReport, SaysWhenGradientsAreReconstructed) {
  EXPECT_FALSE(contains(reportOf(smallPlan()), "reconstructed"));
  json plan = smallPlan();
  plan["buckets"][0]["scheme"] = "factors";
  plan["buckets"][0]["reconstructed"] = 0.0025;
  const std::string report = reportOf(plan);
  EXPECT_TRUE(contains(report, "exposed  reconstructed\n")) << report;
  EXPECT_TRUE(
      contains(report, "factors   6144 B  1.00 ms  1.00 ms  1.50 ms      0 s        2.50 ms\n"))
      << report;
  EXPECT_TRUE(contains(report, "3.00 ms   750 us\n")) << report;
  EXPECT_TRUE(contains(report, "communication at 3.00 ms, exposed")) << report;
  plan["buckets"][0]["reconstructed"] = 0.0035;
  plan["predicted"]["reconstruction_end"] = 0.0035;
  EXPECT_TRUE(
      contains(reportOf(plan), "communication at 3.00 ms, reconstruction at 3.50 ms, exposed"));
}

// The word stands only where it is proved.
TEST(PlanReport, SaysOptimalOnlyWhereProved) {
  EXPECT_TRUE(contains(reportOf(smallPlan()), "optimal, proved by the certificate"));
  json plan = smallPlan();
  plan["planner"] = "wfbp";
  plan["optimal"] = false;
  plan["predicted"]["planner"]["gap"] = 0.5;
  EXPECT_FALSE(contains(reportOf(plan), "optimal"));
  EXPECT_TRUE(contains(reportOf(plan), "gap 50.00 %"));
}

// A certificate is of one channel, so of several nothing is called optimal and no gap is told.
TEST(PlanReport, NamesChannels) {
  EXPECT_FALSE(contains(reportOf(smallPlan()), "channel"));
  json plan = smallPlan();
  plan["buckets"][0]["channel"] = 0;
  plan["buckets"][1]["channel"] = 1;
  plan["optimal"] = false;
  const std::string report = reportOf(plan);
  EXPECT_TRUE(contains(report, "exposed  channel\n")) << report;
  EXPECT_TRUE(contains(report, "3.00 ms   750 us        1\n")) << report;
  EXPECT_TRUE(contains(report, "finishes before 3.40 ms: so says a model of one channel; of the 2 "
                               "on which this plan's messages take turns no bound is known\n"))
      << report;
  EXPECT_FALSE(contains(report, "gap"));
}

// What was requested narrows what is proved.
TEST(PlanReport, NamesTheRequestedSchemes) {
  EXPECT_FALSE(contains(reportOf(smallPlan()), "requested"));
  json plan = smallPlan();
  plan["requested"] = {"fc*=factors", "*=ring"};
  const std::string report = reportOf(plan);
  EXPECT_TRUE(contains(report, "batch 16 a rank, requested fc*=factors and *=ring\n")) << report;
  EXPECT_TRUE(contains(report, ", and no plan with the schemes requested finishes before 3.40 ms: "
                               "optimal, proved by the certificate\n"))
      << report;
}

TEST(PlanReport, OfATraceIsNotToRun) {
  json plan = smallPlan();
  plan["runnable"] = false;
  plan["batch"] = nullptr;
  EXPECT_TRUE(contains(reportOf(plan), "4 ranks, from a layer trace: no program for 'run'"));
}

// A name with control characters does not reach the terminal as it is.
TEST(PlanReport, ShowsNoControlCharacters) {
  json plan = smallPlan();
  plan["buckets"][1]["members"][0] = "a\n\x1b[31m";
  EXPECT_TRUE(contains(reportOf(plan), "a??[31m"));
}

// A plan that was edited by hand is bad input, whatever is missing.
TEST(PlanReport, RefusesWhatIsNoPlan) {
  const json whole = smallPlan();
  for (const auto &[key, value] : whole.items()) {
    json plan = whole;
    plan.erase(key);
    Result<std::string> report = planReport(plan, false);
    ASSERT_FALSE(report.isOk()) << key;
    EXPECT_EQ(report.status().exitCode(), 1);
    EXPECT_TRUE(contains(report.status().message(), "'" + key + "'")) << report.status().message();
  }
  json plan = whole;
  plan["buckets"][0]["members"] = json::array();
  EXPECT_EQ(reportOf(plan), "the plan does not follow its schema: a bucket has no members");
}
