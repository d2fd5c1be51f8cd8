// Two plans side by side: what is said to differ, what is folded, what is refused.
#include "frontend/report/PlanDiff.h"
#include "tests/unit/report/Contains.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace syncline;
using namespace syncline::report;
using nlohmann::json;

namespace {

struct Bucket {
  std::vector<std::string> members;
  std::string scheme = "ring";
};

/// A plan of these buckets; layers are their members in order.
json planOf(const std::vector<Bucket> &buckets) {
  json plan = json::parse(R"({
    "name": "net", "planner": "optimal", "requested": [], "ranks": 4, "servers": 0, "batch": 16, "backend": "cpu", "nccl": false, "runnable": true,
    "optimal": true, "buckets": [], "layers": [], "cluster": {"name": "lab"},
    "hashes": {"model": "aa", "cluster": "bb"},
    "predicted": {"step": 0.004, "backward_end": 0.002, "communication_end": 0.003,
                  "reconstruction_end": 0.003, "exposed": 0.001, "updates": 0.0005, "traffic": 9216,
                  "planner": {"step": 0.0045, "finish": 0.0035, "bound": 0.0034, "gap": 0.0}}})");
  for (const Bucket &bucket : buckets) {
    plan["buckets"].push_back({{"id", plan["buckets"].size()},
                               {"members", bucket.members},
                               {"bytes", 8},
                               {"scheme", bucket.scheme},
                               {"traffic", 16},
                               {"ready", 0.001},
                               {"start", 0.001},
                               {"end", 0.002},
                               {"reconstructed", 0.002},
                               {"exposed", 0.0}});
    for (const std::string &member : bucket.members)
      plan["layers"].push_back({{"name", member}, {"bytes", 8}, {"ready", 0.001}});
  }
  return plan;
}

std::string diffOf(const json &left, const json &right) {
  Result<std::string> text = planDiff({left, "a.plan"}, {right, "b.plan"});
  return text ? *text : "error: " + text.status().message();
}

} // namespace

// Nothing to say but the numbers.
TEST(PlanDiff, OfAPlanAndItself) {
  const json plan = planOf({{{"fc.weight", "fc.bias"}}, {{"conv.weight"}}});
  EXPECT_EQ(diffOf(plan, plan), "predicted            a.plan   b.plan  ratio\n"
                                "step                4.00 ms  4.00 ms  1.00x\n"
                                "communication ends  3.00 ms  3.00 ms  1.00x\n"
                                "exposed             1.00 ms  1.00 ms  1.00x\n"
                                "traffic of a node    9216 B   9216 B  1.00x\n"
                                "messages                  2        2  1.00x\n"
                                "\n"
                                "same decisions\n");
}

// The header says only the differences between the inputs of the plans.
TEST(PlanDiff, HeaderHasOnlyDifferences) {
  const json left = planOf({{{"w"}}});
  json right = left;
  right["planner"] = "wfbp";
  right["ranks"] = 8;
  right["batch"] = nullptr;
  right["backend"] = "cuda";
  right["nccl"] = true;
  right["requested"] = {"w=ring", "v*=ps"};
  right["hashes"]["cluster"] = "cc";
  EXPECT_TRUE(diffOf(left, right)
                  .starts_with("              a.plan   b.plan\n"
                               "cluster file  bb       cc\n"
                               "planner       optimal  wfbp\n"
                               "ranks         4        8\n"
                               "batch         16       -\n"
                               "backend       cpu      cuda\n"
                               "requested     -        w=ring and v*=ps\n"
                               "\n"))
      << diffOf(left, right);
}

// The second plan by the first; nothing by nothing is no change.
TEST(PlanDiff, Ratios) {
  const json left = planOf({{{"w"}}});
  json right = left;
  right["predicted"]["step"] = 0.003;
  right["predicted"]["exposed"] = 0.0;
  EXPECT_TRUE(contains(diffOf(left, right), "4.00 ms  3.00 ms  0.75x\n"));
  EXPECT_TRUE(contains(diffOf(left, right), "1.00 ms      0 s  0.00x\n"));
  EXPECT_TRUE(contains(diffOf(right, left), "0 s  1.00 ms      -\n"));
  EXPECT_TRUE(contains(diffOf(right, right), "0 s      0 s  1.00x\n"));
}

// The sum, and each kind that differs.
TEST(PlanDiff, SaysWhichMemoryDiffers) {
  json left = planOf({{{"w"}}}), right = left;
  left["memory"] = {{"arena", 4 << 20}, {"parameters", 1 << 20}, {"optimizer", 0}};
  right["memory"] = {{"arena", 2 << 20}, {"parameters", 1 << 20}, {"optimizer", 2 << 20}};
  EXPECT_FALSE(contains(diffOf(left, right), "memory of a rank")) << diffOf(left, right);
  EXPECT_TRUE(contains(diffOf(left, right), "memory: arena       4.00 MiB  2.00 MiB  0.50x\n"))
      << diffOf(left, right);
  EXPECT_TRUE(contains(diffOf(left, right), "memory: optimizer"));
  EXPECT_FALSE(contains(diffOf(left, right), "memory: parameters"));
  right["memory"]["optimizer"] = 0;
  EXPECT_TRUE(contains(diffOf(left, right), "memory of a rank    5.00 MiB  3.00 MiB  0.60x\n"))
      << diffOf(left, right);
  right["memory"] = nullptr; // of a trace
  EXPECT_FALSE(contains(diffOf(left, right), "memory"));
}

// Same bucket-mates, another scheme; same scheme, other bucket-mates; neither.
TEST(PlanDiff, SchemeOrMatesMakeADecision) {
  const json left = planOf({{{"a"}}, {{"b"}}, {{"c", "d"}}, {{"e"}}});
  const json right = planOf({{{"a"}, "tree"}, {{"b", "c"}}, {{"d"}}, {{"e"}}});
  const std::string text = diffOf(left, right);
  EXPECT_TRUE(contains(text, "gradients  a.plan               b.plan\n"
                             "a          ring, alone          tree, alone\n"
                             "b          ring, alone          ring, in b .. c (2)\n"
                             "c          ring, in c .. d (2)  ring, in b .. c (2)\n"
                             "d          ring, in c .. d (2)  ring, alone\n"
                             "\n"
                             "4 of 5 gradients travel otherwise\n"))
      << text;
}

// Neighbours in one bucket, or each alone by one scheme, on either side: one line.
TEST(PlanDiff, FoldsWhatDiffersAlike) {
  const json left = planOf({{{"a"}}, {{"b"}}, {{"c"}}, {{"d"}, "tree"}});
  const json right = planOf({{{"a", "b", "c", "d"}}});
  const std::string text = diffOf(left, right);
  EXPECT_TRUE(contains(text, "a .. c (3)  ring, each alone  ring, in a .. d (4)\n"
                             "d           tree, alone       ring, in a .. d (4)\n"))
      << text;
}

// What agrees in between ends a line.
TEST(PlanDiff, DoesNotFoldAcrossAgreement) {
  const json left = planOf({{{"a"}}, {{"b"}}, {{"c"}}});
  const json right = planOf({{{"a"}, "tree"}, {{"b"}}, {{"c"}, "tree"}});
  EXPECT_TRUE(contains(diffOf(left, right), "a          ring, alone  tree, alone\n"
                                            "c          ring, alone  tree, alone\n"));
}

// A bucket that has lost a gradient with the model, and nothing else, is the same decision.
TEST(PlanDiff, OfDifferentModelsComparesWhatIsCommon) {
  const json left = planOf({{{"fc", "head"}}, {{"conv"}}});
  const json right = planOf({{{"fc"}}, {{"conv"}}, {{"extra"}}});
  const std::string text = diffOf(left, right);
  EXPECT_TRUE(contains(text, "same decisions\nonly in a.plan: head\nonly in b.plan: extra\n"))
      << text;
}

TEST(PlanDiff, ListsFewOfManyThatOnlyOneHas) {
  const json left = planOf({{{"a"}}});
  const json right = planOf({{{"a"}}, {{"b", "c", "d", "e", "f", "g", "h", "i", "j", "k"}}});
  EXPECT_TRUE(contains(diffOf(left, right), "only in b.plan: b, c, d, e, f, g, h, i and 2 more\n"))
      << diffOf(left, right);
}

TEST(PlanDiff, RefusesPlansWithNothingInCommon) {
  const json left = planOf({{{"a"}}}), right = planOf({{{"b"}}});
  EXPECT_EQ(diffOf(left, right), "error: 'a.plan' and 'b.plan' have no gradient in common");
}

// A hand-edited plan is named.
TEST(PlanDiff, RefusesWhatIsNoPlan) {
  const json whole = planOf({{{"a"}}});
  for (const char *key : {"name", "planner", "ranks", "servers", "batch", "buckets", "layers",
                          "cluster", "hashes", "predicted", "requested"}) {
    json plan = whole;
    plan.erase(key);
    const std::string text = diffOf(whole, plan);
    EXPECT_TRUE(text.starts_with("error: 'b.plan': the plan does not follow its schema")) << text;
    EXPECT_TRUE(contains(text, "'" + std::string(key) + "'")) << text;
  }
  json plan = whole;
  plan["buckets"][0]["members"][0] = "other";
  EXPECT_TRUE(contains(diffOf(plan, whole), "'a.plan': ")) << diffOf(plan, whole);
  EXPECT_TRUE(contains(diffOf(plan, whole), "no bucket has the gradient 'a'"));
}

// conv's gradient overtakes a part of fc's, and bn's is the same in both.
TEST(PlanDiff, OfOrders) {
  json left = planOf({{{"bn"}}, {{"fc"}}, {{"conv"}}});
  json right = planOf({{{"bn"}}, {{"fc"}}, {{"conv"}}, {{"fc"}}});
  right["overlap"] = "step";
  left["overlap"] = "backward";
  right["certificate"] = nullptr;
  right["buckets"][1]["cut"] = {0, 4};
  right["buckets"][3]["cut"] = {4, 0};
  const double starts[] = {0.0010, 0.0015, 0.0020, 0.0025};
  for (std::size_t i = 0; i < 4; ++i) {
    right["buckets"][i]["start"] = starts[i];
    right["buckets"][i]["end"] = right["buckets"][i]["reconstructed"] = starts[i] + 0.0005;
  }
  left["buckets"][0]["reconstructed"] = 0.0015;
  left["buckets"][2]["reconstructed"] = 0.004;
  right["predicted"]["planner"]["gap"] = 0.125;
  const std::string text = diffOf(left, right);
  EXPECT_TRUE(contains(text, "overlap  backward  step\n")) << text;
  EXPECT_TRUE(contains(text, "under way behind the backward pass  3.00 ms  1.00 ms  0.33x\n"
                             "under way after it                      0 s  1.00 ms      -\n"
                             "step in the planner's model         4.50 ms  4.50 ms  1.00x\n"
                             "gap to the bound                     0.00 %  12.50 %"))
      << text;
  EXPECT_TRUE(contains(text, "gradients  a.plan       b.plan\n"
                             "fc         ring, alone  ring, cut into 2 messages\n"
                             "\n"
                             "1 of 3 gradients travel otherwise\n"
                             "\n"
                             "arrives   a.plan   b.plan    change\n"
                             "conv     4.00 ms  2.50 ms  -1.50 ms\n"
                             "fc       2.00 ms  3.00 ms  +1.00 ms\n"
                             "in b.plan 1 gradient arrives earlier, 1 later\n"))
      << text;
}

// Gradients may be cut into as many messages, but elsewhere.
TEST(PlanDiff, OfCuts) {
  json left = planOf({{{"fc"}}, {{"fc"}}});
  left["layers"].erase(1);
  left["overlap"] = "step";
  left["certificate"] = nullptr;
  left["buckets"][0]["cut"] = {0, 4};
  left["buckets"][1]["cut"] = {4, 0};
  json right = left;
  EXPECT_TRUE(contains(diffOf(left, right), "same decisions\n"));
  EXPECT_TRUE(contains(diffOf(left, right), "gradients arrive at the same times\n"));
  right["buckets"][0]["cut"] = {0, 6};
  right["buckets"][1]["cut"] = {2, 0};
  EXPECT_TRUE(contains(diffOf(left, right), "1 of 1 gradients travel otherwise"))
      << diffOf(left, right);
}
