// plan.json with an edit and a fitting hash: whatever the runtime would compute by is compared.
#include "Processes.h"
#include "TinyPlan.h"

#include <gtest/gtest.h>

namespace syncline {
namespace {

using namespace syncline::testing;
using nlohmann::json;

/// The plan as it is in `plan.json` now is refused by a run, with exit code 1 and these words.
void expectRefused(TinyPlan &plan, const std::string &why) {
  plan.seal();
  Outcome run = runToEnd({plan.folder(), "--steps", "1", "--start-timeout", "20"});
  EXPECT_EQ(run.code, 1) << why;
  EXPECT_NE(run.output.find(why), std::string::npos) << why << "\n" << run.output;
}

// Tensors hold as many samples as the batch says: buffers have one size, samples come in another.
TEST(PlanChecks, BatchOfEveryTensor) {
  for (const char *tensor : {"/inputs/0", "/target", "/output"}) {
    TinyPlan plan(1);
    json &shape = plan.json[json::json_pointer(tensor)]["shape"];
    shape[0] = 16;
    expectRefused(plan, "expected the batch, 8, as first dimension, got shape [16");
    shape = json::array();
    expectRefused(plan, "expected the batch, 8, as first dimension, got shape []");
  }
}

// An output without classes, or with more predictions than targets, cannot be scored.
TEST(PlanChecks, PredictionsAndTargets) {
  TinyPlan plan(1);
  plan.json["output"]["shape"] = {8, 0};
  expectRefused(plan,
                "tensor 'logits': expected classes as second or last dimension, got shape [8, 0]");
  plan.json["output"]["shape"] = {8, 3, 2};
  expectRefused(plan, "tensor 'labels': expected a target for every prediction of 'logits'");
  plan.json["output"]["shape"] = {8, 3};
  for (const char *loss : {"mse", "l1", "cross-entropy:targets=probabilities"}) {
    plan.json["loss"] = loss;
    expectRefused(plan, "tensor 'labels': expected a target for every prediction of 'logits'");
  }
  plan.json["loss"] = "hinge";
  expectRefused(plan, "'loss': expected the loss cross-entropy, ");
}

// Weights of classes are one for each, and numbers that a step can divide by.
TEST(PlanChecks, WeightsOfClasses) {
  TinyPlan plan(1);
  plan.json["loss"] = "cross-entropy:weights=class_weights";
  const auto refused = [&](const json &weights, const std::string &why) {
    plan.json["options"] = {{"class_weights", weights}};
    expectRefused(plan, why);
  };
  refused({1, 2}, "tensor 'logits': expected classes for 2 weights, got shape [8, 3]");
  refused({1, -2, 1}, "'class_weights': element 1: expected a weight from 0 to 3.4e38, got -2");
  refused({1, 1e39, 1}, "'class_weights': element 1: expected a weight from 0 to 3.4e38");
  refused({0, 0, 0}, "'class_weights': expected weights of classes, one above 0, got 0 alone");
  refused({1e-46, 0, 0}, "one above 0, got 0 alone"); // as a float
  refused(json::array(), "'class_weights': expected weights of classes, one above 0, got none");
  refused("1", "'class_weights' is of the wrong type");
  plan.json["options"] = json::object();
  expectRefused(plan, "class_weights");
}

// Input, target, output and parameters are what step.so declares, in shape, type and name.
TEST(PlanChecks, Tensors) {
  TinyPlan whole(1, 8);
  auto refused = [&](const char *where, const json &value, const std::string &why) {
    const json before = whole.json;
    whole.json[json::json_pointer(where)] = value;
    expectRefused(whole, why);
    whole.json = before;
  };
  refused("/inputs/0/shape/1", 4000, "plan.json and step.so differ in tensor 'x'");
  refused("/inputs/0/type", "f64", "plan.json and step.so differ in tensor 'x'");
  refused("/target/type", "i32", "plan.json and step.so differ in tensor 'labels'");
  refused("/output/shape/1", 300, "plan.json and step.so differ in tensor 'logits'");
  refused("/output/type", "f64", "plan.json and step.so differ in tensor 'logits'");
  refused("/output/name", "logit", "step.so' has no tensor 'logit'");
  refused("/tensors/0/shape/0", 2, "plan.json and step.so differ in tensor 'fc/w'");
}

// Buckets are those of step.so: what is reported of them, and what is summed, is theirs.
TEST(PlanChecks, Buckets) {
  TinyPlan whole(1);
  auto refused = [&](const std::string &key, const json &value, const std::string &why) {
    const json before = whole.json;
    whole.json["buckets"][1][key] = value;
    expectRefused(whole, "plan.json and step.so differ in bucket " + why);
    whole.json = before;
  };
  refused("id", 0, "0, which step.so does not have or plan.json has twice");
  refused("id", 7, "7, which step.so does not have");
  refused("channel", 1, "1");
  refused("scheme", "tree", "1");
  refused("extent", 128, "1");
  refused("members", {"fc/b"}, "1");
  refused("members", {"fc/w", "fc/w"}, "1");
  whole.json["buckets"].erase(1);
  expectRefused(whole, "differ in bucket 1, which plan.json does not have");
}

// A server adds up by the type that plan.json gives a bucket's members: another one would mix bits.
TEST(PlanChecks, TypeOfServedBuckets) {
  TinyPlan plan(2, 8, "", "parameter-server", 1);
  plan.json["tensors"].push_back({{"name", "count"},
                                  {"kind", "state"},
                                  {"type", "i32"},
                                  {"shape", {16}},
                                  {"offset", nullptr},
                                  {"init", {{"kind", "constant"}, {"value", 0.0}}}});
  plan.json["buckets"][1]["members"] = {"count"};
  expectRefused(plan, "plan.json and step.so differ in bucket 1");
}

// A server serves in plan.json's order.
TEST(PlanChecks, OrderOfServedBuckets) {
  TinyPlan plan(2, 8, "", "parameter-server", 1);
  std::swap(plan.json["buckets"][0], plan.json["buckets"][1]);
  expectRefused(plan, "plan.json and step.so differ in when bucket 1 is issued");
}

} // namespace
} // namespace syncline
