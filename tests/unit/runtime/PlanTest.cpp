// plan.json: what is accepted, and that every change is noticed.
#include "TinyPlan.h"

#include "runtime/run/checkpoint/Sha256.h"
#include "runtime/run/options/Options.h"

#include <gtest/gtest.h>

namespace syncline {
namespace {

using namespace run;
using namespace syncline::testing;

std::string messageOf(const TinyPlan &plan) {
  Result<Plan> loaded = loadPlan(plan.folder());
  EXPECT_FALSE(loaded.isOk());
  EXPECT_EQ(loaded.status().exitCode(), 1);
  return loaded.status().message();
}

// The published test vectors.
TEST(Sha256, TestVectors) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

// What the plan says arrives.
TEST(Plan, Loads) {
  TinyPlan tiny(4, 8);
  Result<Plan> plan = loadPlan(tiny.folder());
  ASSERT_TRUE(plan.isOk()) << plan.status().message();
  EXPECT_EQ(plan->ranks, 4);
  EXPECT_EQ(plan->batch, 8);
  EXPECT_EQ(plan->tensors.size(), 2u);
  EXPECT_EQ(plan->tensors[1].offset, 48);
  EXPECT_EQ(plan->sampleFormat().classCount, 3);
  EXPECT_EQ(plan->buckets[1].members, std::vector<std::string>{"fc/w"});
  EXPECT_EQ(plan->buckets[1].type, ElementType::f32);
  EXPECT_EQ(plan->buckets[1].extent, 64);
  EXPECT_EQ(plan->predictedStep, 1e-4);
  EXPECT_EQ(plan->plannedStep, 2e-4);
  EXPECT_EQ(plan->predictedTraffic, 256);
  EXPECT_EQ(readRunShape(tiny.folder())->ranks, 4);
  EXPECT_EQ(readRunShape(tiny.folder())->servers, 0);
}

// A loss that the model computes has no target, and every other loss has one.
TEST(Plan, HasATargetOrAModelsLoss) {
  TinyPlan tiny(2, 8);
  const nlohmann::json target = tiny.json["target"];
  tiny.json["target"] = nullptr;
  tiny.seal();
  EXPECT_NE(messageOf(tiny).find("'target': expected a tensor with the loss 'cross-entropy'"),
            std::string::npos);
  tiny.json["loss"] = "output:loss";
  tiny.json["output"] = nullptr;
  tiny.seal();
  Result<Plan> plan = loadPlan(tiny.folder());
  ASSERT_TRUE(plan.isOk()) << plan.status().message();
  EXPECT_FALSE(plan->sampleFormat().hasTargets);
  EXPECT_EQ(plan->sizes.target, 0);
  tiny.json["target"] = target;
  tiny.seal();
  EXPECT_NE(messageOf(tiny).find("'target': expected null with the loss 'output:loss'"),
            std::string::npos);
}

// Ranks wait for 20 steps of the longer prediction, and for 30 s at least.
TEST(Plan, WaitsLongEnough) {
  Plan plan;
  EXPECT_EQ(plan.usualTimeout(), 30);
  plan.predictedStep = 3;
  EXPECT_EQ(plan.usualTimeout(), 60);
  plan.plannedStep = 4;
  EXPECT_EQ(plan.usualTimeout(), 80);
  EXPECT_EQ(plan.usualTimeout(3), 240);
}

// A step of several micro-batches repeats computation, and what travels in each micro-batch.
TEST(Plan, PredictsStepsOfSeveralMicroBatches) {
  TinyPlan tiny(2);
  Result<Plan> plan = loadPlan(tiny.folder());
  ASSERT_TRUE(plan.isOk()) << plan.status().message();
  EXPECT_EQ(plan->stepOf(1), 1e-4);
  EXPECT_EQ(plan->stepOf(3), std::nullopt); // the plan does not say
  EXPECT_EQ(plan->trafficOf(3), 256);
  tiny.json["predicted"]["micro_batch"] = 0.5e-4;
  tiny.json["buckets"][0]["scheme"] = "factors";
  tiny.json["buckets"][0]["traffic"] = 64.0;
  tiny.seal();
  plan = loadPlan(tiny.folder());
  ASSERT_TRUE(plan.isOk()) << plan.status().message();
  EXPECT_DOUBLE_EQ(*plan->stepOf(3), 2e-4);
  EXPECT_EQ(plan->trafficOf(3), 256 + 2 * 64);
}

// A plan of several micro-batches predicts the whole step, from which others follow.
TEST(Plan, PredictsItsOwnMicroBatches) {
  TinyPlan tiny(2);
  tiny.json["accumulate"] = 4;
  tiny.json["predicted"]["step"] = 3e-4;
  tiny.json["predicted"]["planner"]["step"] = 3e-4;
  tiny.json["predicted"]["micro_batch"] = 0.5e-4;
  tiny.json["buckets"][0]["scheme"] = "factors";
  tiny.json["buckets"][0]["traffic"] = 64.0;
  tiny.seal();
  const Result<Plan> plan = loadPlan(tiny.folder());
  ASSERT_TRUE(plan.isOk()) << plan.status().message();
  EXPECT_EQ(plan->microBatches, 4);
  EXPECT_EQ(plan->stepOf(4), 3e-4);
  EXPECT_DOUBLE_EQ(*plan->stepOf(1), 1.5e-4);
  EXPECT_DOUBLE_EQ(*plan->stepOf(6), 4e-4);
  EXPECT_EQ(plan->trafficOf(4), 256);
  EXPECT_EQ(plan->trafficOf(1), 256 - 3 * 64);
  Plan slow = *plan;
  slow.predictedStep = 4;
  EXPECT_EQ(slow.usualTimeout(4), 80);
  EXPECT_EQ(slow.usualTimeout(1), 80);
  EXPECT_EQ(slow.usualTimeout(5), 160);
  tiny.json["accumulate"] = 1'000'001;
  tiny.seal();
  EXPECT_NE(loadPlan(tiny.folder()).status().message().find("'accumulate': expected at most"),
            std::string::npos);
}

// A run has the plan's micro-batches, unless the command line names a number or one rank
// is measured.
TEST(Plan, FollowsThePlansMicroBatches) {
  Plan plan;
  plan.microBatches = 4;
  Options follows, chooses, agrees, measures;
  EXPECT_TRUE(follows.follow(plan).empty());
  EXPECT_EQ(follows.microBatches, 4);
  chooses.wantedMicroBatches = 2;
  const std::vector<std::string> notes = chooses.follow(plan);
  ASSERT_EQ(notes.size(), 1);
  EXPECT_EQ(notes.front(),
            "'--accumulate 2': the plan was made for 4, its predictions do not hold; "
            "'syncline compile --accumulate 2' makes one");
  EXPECT_EQ(chooses.microBatches, 2);
  agrees.wantedMicroBatches = 4;
  EXPECT_TRUE(agrees.follow(plan).empty());
  measures.alone = true;
  EXPECT_TRUE(measures.follow(plan).empty());
  EXPECT_EQ(measures.microBatches, 1);
  follows.trace = "trace.json";
  follows.backend = plan.backend = "cpu";
  EXPECT_NE(follows.checkPlan(plan).message().find(
                "'--trace' is for steps of one batch, but the plan's have 4; expected "
                "'--accumulate 1' beside it"),
            std::string::npos);
}

// The norm of clipping is the plan's, unless the command line names one or times are measured.
TEST(Plan, FollowsThePlansClipping) {
  TinyPlan tiny(2);
  tiny.json["clip_norm"] = 0.5;
  tiny.seal();
  const Result<Plan> plan = loadPlan(tiny.folder());
  ASSERT_TRUE(plan.isOk()) << plan.status().message();
  Options follows, chooses, measures;
  EXPECT_TRUE(follows.follow(*plan).empty());
  EXPECT_EQ(follows.optimizerFlags.clipNorm, 0.5);
  chooses.optimizerFlags.clipNorm = 2;
  EXPECT_TRUE(chooses.follow(*plan).empty());
  EXPECT_EQ(chooses.optimizerFlags.clipNorm, 2);
  measures.opTimes = "times.json";
  measures.follow(*plan);
  EXPECT_FALSE(measures.clipsNorm());
}

// Every scheme, servers and the nodes of the cluster arrive; what plans leave out has its default.
TEST(Plan, SchemesServersAndNodes) {
  for (const char *scheme :
       {"ring", "recursive-doubling", "halving-doubling", "tree", "reduce-scatter", "hierarchical",
        "library", "parameter-server", "factors"}) {
    TinyPlan tiny(2, 8, "", scheme, 3);
    tiny.json["cluster"] = {{"devices_per_node", 2}};
    tiny.seal();
    Result<Plan> plan = loadPlan(tiny.folder());
    ASSERT_TRUE(plan.isOk()) << plan.status().message();
    EXPECT_EQ(schemeName(plan->buckets[0].scheme), scheme);
    EXPECT_EQ(plan->servers, 3);
    EXPECT_EQ(plan->ranksPerNode, 2);
    EXPECT_EQ(readRunShape(tiny.folder())->servers, 3);
    tiny.json.erase("servers");
    tiny.seal();
    EXPECT_EQ(loadPlan(tiny.folder())->servers, 0);
  }
}

// An embedding's gradient may have more rows than there may be ranks.
TEST(Plan, GradientsOfManyRows) {
  TinyPlan tiny(2);
  tiny.json["buckets"][0]["scheme"] = "sparse";
  tiny.json["buckets"][0]["rows"] = std::int64_t{1} << 33;
  tiny.seal();
  const Result<Plan> plan = loadPlan(tiny.folder());
  EXPECT_TRUE(plan.isOk()) << plan.status().message();
  tiny.json["buckets"][0]["rows"] = 0;
  tiny.seal();
  EXPECT_EQ(messageOf(tiny), "'" + tiny.file("plan.json") + "': 'rows': 0 is out of range");
}

// A number of ranks that no int holds is refused before anything is started.
TEST(Plan, ImpossibleNumberOfRanks) {
  TinyPlan plan(4);
  plan.json["ranks"] = std::int64_t{1} << 40;
  writeFile(plan.file("plan.json"), plan.json.dump());
  Result<launch::RunShape> ranks = readRunShape(plan.folder());
  ASSERT_FALSE(ranks.isOk());
  EXPECT_EQ(ranks.status().message(),
            "'" + plan.file("plan.json") + "': 'ranks': 1099511627776 is out of range");
}

// One changed byte in any file is found, and the file named.
TEST(Plan, ChangedByte) {
  for (const char *name : {"plan.mlir", "step.cpp", "step.so", "weights.bin"}) {
    TinyPlan plan(1);
    std::string bytes = readFile(plan.file(name));
    bytes[bytes.size() / 2] ^= 1;
    writeFile(plan.file(name), bytes);
    EXPECT_EQ(messageOf(plan),
              "'" + plan.file(name) +
                  "': the file was changed after it was compiled: its hash differs");
  }
}

// A value changed in plan.json itself is found.
TEST(Plan, ChangedPlan) {
  TinyPlan plan(1);
  plan.json["batch"] = 16;
  writeFile(plan.file("plan.json"), plan.json.dump());
  EXPECT_NE(messageOf(plan).find("plan.json': the file was changed"), std::string::npos);
}

// A listed file that is missing is named.
TEST(Plan, MissingFile) {
  TinyPlan plan(1);
  std::filesystem::remove(plan.file("weights.bin"));
  EXPECT_NE(messageOf(plan).find("weights.bin': cannot open"), std::string::npos);
}

// Plans of another schema, from a trace, or without a needed entry are refused with the reason.
TEST(Plan, Unfit) {
  TinyPlan plan(1);
  auto refused = [&](const char *key, const nlohmann::json &value, const std::string &why) {
    nlohmann::json before = plan.json;
    if (value.is_discarded())
      plan.json.erase(key);
    else
      plan.json[key] = value;
    plan.seal();
    EXPECT_NE(messageOf(plan).find(why), std::string::npos) << messageOf(plan);
    plan.json = before;
  };
  refused("schema", 3, "expected schema 20, got 3");
  refused("runnable", false, "layer trace");
  refused("backend", "tpu", "'backend': expected cpu or cuda, got 'tpu'");
  refused("clip_norm", 0, "'clip_norm': expected a number from 1e-30 to 1e30, got 0");
  refused("accumulate", 0, "'accumulate': 0 is out of range");
  refused("clip_norm", "1", "'clip_norm' is of the wrong type");
  refused("ranks", 0, "'ranks': 0 is out of range");
  nlohmann::json bucket = plan.json["buckets"][1];
  bucket["scheme"] = "star";
  refused("buckets", nlohmann::json::array({bucket}),
          "bucket 1: unknown scheme 'star', expected one of 'ring', ");
  bucket = plan.json["buckets"][1];
  bucket["members"] = {"fc/b", "fc/v"};
  refused("buckets", nlohmann::json::array({bucket}), "bucket 1 has a member 'fc/v'");
  bucket["members"] = nlohmann::json::array();
  refused("buckets", nlohmann::json::array({bucket}), "bucket 1 has no members");
  bucket = plan.json["buckets"][1];
  bucket.erase("traffic");
  refused("buckets", nlohmann::json::array({bucket}), "missing 'traffic'");
  refused("servers", -1, "'servers': -1 is out of range");
  refused("servers", 1 << 21, "'servers': 2097152 is out of range");
  refused("ranks", "four", "'ranks': expected a whole number, got \"four\"");
  refused("tensors", nlohmann::json::value_t::discarded, "missing 'tensors'");
  const auto input = [](const char *type, std::int64_t size) {
    return nlohmann::json::array({{{"name", "x"}, {"type", type}, {"shape", {size}}}});
  };
  refused("inputs", input("f7", 1), "unknown element type 'f7'");
  refused("inputs", input("f32", -1), "impossible shape [-1]");
  refused("inputs", nlohmann::json::array(), "'inputs' is empty");
  refused("tensors", {plan.json["tensors"][0], plan.json["tensors"][0]}, "is there twice");
}

// Numbers that are no integers are not made into some; predictions are seconds and bytes.
TEST(Plan, Numbers) {
  TinyPlan plan(1);
  auto refused = [&](const char *where, const nlohmann::json &value, const std::string &why) {
    nlohmann::json before = plan.json;
    plan.json[nlohmann::json::json_pointer(where)] = value;
    plan.seal();
    EXPECT_NE(messageOf(plan).find(why), std::string::npos) << messageOf(plan);
    plan.json = before;
  };
  refused("/batch", 8.5, "'batch': expected a whole number, got 8.5");
  refused("/ranks", 1e300, "'ranks': expected a whole number, got 1e+300");
  refused("/ranks", true, "'ranks': expected a whole number, got true");
  refused("/memory/arena", ~std::uint64_t{0}, "'arena': 18446744073709551615 is out of range");
  refused("/inputs/0/shape/1", 4.25, "'shape': expected a whole number, got 4.25");
  refused("/schema", (std::int64_t{1} << 32) + 5, "expected schema 20, got 4294967301");
  refused("/predicted/step", -1.0, "'step': -1.0 is no prediction");
  refused("/predicted/planner", nlohmann::json::object(), "missing 'step'");
  refused("/predicted/traffic", "much", "'traffic' is of the wrong type");
  refused("/buckets/0/start", -1e-3, "'start': -0.001 is no prediction");
}

// Empty, cut and foreign files end with a message.
TEST(Plan, Malformed) {
  TinyPlan plan(1);
  std::string whole = readFile(plan.file("plan.json"));
  for (const std::string &bytes :
       {std::string(), whole.substr(0, whole.size() / 2), std::string("[1, 2]"),
        std::string("\x00\xff\x17", 3), std::string(100000, '[')}) {
    writeFile(plan.file("plan.json"), bytes);
    EXPECT_NE(messageOf(plan).find("plan.json': "), std::string::npos);
  }
  EXPECT_FALSE(loadPlan("/nowhere").isOk());
}

// The hash copies and prints what it was given, a call a level: what nests deeply is refused first,
// by ranks and by the launcher, whatever strings hold.
TEST(Plan, Nested) {
  TinyPlan plan(1);
  const std::string whole = readFile(plan.file("plan.json"));
  const std::string open = whole.substr(0, whole.rfind('}'));
  for (const std::size_t depth : {std::size_t{32}, std::size_t{1} << 20}) {
    const std::string nest = std::string(depth, '[') + std::string(depth, ']');
    writeFile(plan.file("plan.json"), open + ", \"z\": " + nest + "}");
    EXPECT_NE(messageOf(plan).find("plan.json': expected at most 32 levels"), std::string::npos);
    EXPECT_EQ(readRunShape(plan.folder()).status().message(), messageOf(plan));
  }
  writeFile(plan.file("plan.json"), open + ", \"z\": \"\\\"" + std::string(100, '[') + "\"}");
  EXPECT_NE(messageOf(plan).find("its hash differs"), std::string::npos) << messageOf(plan);
}

} // namespace
} // namespace syncline
