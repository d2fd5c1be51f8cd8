// plan.json's consistency: every form is read, and what breaks rule P31 is refused.
#include "TinyPlan.h"

#include "runtime/run/plan/Plan.h"

#include <gtest/gtest.h>

namespace syncline {
namespace {

using namespace run;
using namespace syncline::testing;
using Json = nlohmann::json;
using Form = PlanConsistency::Form;

Json exchange(const char *scheme, std::int64_t start, const Json &wait) {
  return {{"id", 0},       {"scheme", scheme}, {"offset", 0},
          {"extent", 128}, {"start", start},   {"wait", wait}};
}

/// A consistency by servers on two ranks.
Json served(Json numbers, std::int64_t start, const Json &wait) {
  numbers["text"] = "the form";
  numbers["exchanges"] = Json::array({exchange("parameter-server", start, wait)});
  numbers["shards"] = {{{"server", 0}, {"offset", 0}, {"extent", 64}},
                       {{"server", 1}, {"offset", 64}, {"extent", 64}}};
  return numbers;
}

Json elastic(const char *variant, const char *scheme, int wait) {
  return {{"form", "easgd"},
          {"text", "the form"},
          {"rho", 0.5},
          {"variant", variant},
          {"period", 3},
          {"exchanges", Json::array({exchange(scheme, 0, wait)})},
          {"shards", Json::array()}};
}

Json diloco() {
  return {{"form", "diloco"},
          {"text", "the form"},
          {"period", 4},
          {"mix", 0.5},
          {"rate", 0.7},
          {"momentum", 0.9},
          {"exchanges", Json::array({exchange("ring", 3, 4)})},
          {"shards", Json::array()}};
}

class Consistency : public ::testing::Test {
protected:
  Result<Plan> load(const Json &consistency) {
    plan.json["consistency"] = consistency;
    plan.seal();
    return loadPlan(plan.folder());
  }

  PlanConsistency read(const Json &consistency) {
    const Result<Plan> loaded = load(consistency);
    EXPECT_TRUE(loaded) << loaded.status().message();
    return loaded ? loaded->consistency : PlanConsistency();
  }

  /// What loading says of the consistency with one value replaced.
  std::string refusal(Json consistency, const char *where, const Json &value) {
    consistency[Json::json_pointer(where)] = value;
    const Result<Plan> loaded = load(consistency);
    EXPECT_FALSE(loaded) << where << value;
    return loaded ? "" : loaded.status().message();
  }

  TinyPlan plan{2};
};

// A plan without consistency waits for all ranks in every step.
TEST_F(Consistency, None) {
  const PlanConsistency found = read(nullptr);
  EXPECT_EQ(found.form, Form::bsp);
  EXPECT_FALSE(found.isLocal());
}

// A form by servers has its numbers and a shard for each server.
TEST_F(Consistency, Servers) {
  const PlanConsistency ssp = read(served({{"form", "ssp"}, {"staleness", 3}}, 1, 4));
  EXPECT_EQ(ssp.form, Form::ssp);
  EXPECT_EQ(ssp.lower, 3);
  EXPECT_EQ(ssp.upper, 3);
  EXPECT_TRUE(ssp.isLocal() && ssp.isServed());
  ASSERT_EQ(ssp.shards.size(), 2u);
  EXPECT_EQ(ssp.shards[1].offset, 64);
  const PlanConsistency dssp = read(served({{"form", "dssp"}, {"lower", 3}, {"upper", 15}}, 1, 16));
  EXPECT_EQ(dssp.lower, 3);
  EXPECT_EQ(dssp.upper, 15);
  const PlanConsistency asp = read(served({{"form", "asp"}}, 1, nullptr));
  EXPECT_EQ(asp.exchanges[0].wait, PlanExchange::mostSteps);
  const PlanConsistency async =
      read(served({{"form", "easgd"}, {"variant", "async"}, {"rho", 0.25}, {"period", 2}}, 0, 1));
  EXPECT_EQ(async.variant, PlanConsistency::Variant::async);
  EXPECT_EQ(async.rho, 0.25);
  EXPECT_EQ(async.period, 2);
}

// Gradients count wholly where they stay on their rank, and as a part of the mean elsewhere.
TEST_F(Consistency, GradientRanks) {
  EXPECT_EQ(load(diloco())->gradientRanks(), 1);
  EXPECT_EQ(load(elastic("sync3", "tree", 1))->gradientRanks(), 1);
  EXPECT_EQ(load(served({{"form", "ssp"}, {"staleness", 3}}, 1, 4))->gradientRanks(), 1);
  EXPECT_EQ(load(nullptr)->gradientRanks(), 2);
}

// Synchronous EASGD travels by an all-reduce and has no shards.
TEST_F(Consistency, Collectives) {
  const PlanConsistency found = read(elastic("sync2", "tree", 0));
  EXPECT_EQ(found.variant, PlanConsistency::Variant::sync2);
  EXPECT_EQ(found.exchanges[0].wait, 0);
  EXPECT_FALSE(found.isServed());
  EXPECT_EQ(variantName(found.variant), "sync2");
  EXPECT_EQ(formName(found.form), "easgd");
}

// Exchanges lie in the space of parameters, one behind the other, and in the period.
TEST_F(Consistency, ExchangesBreakP31) {
  for (const auto &[key, value] :
       std::vector<std::pair<const char *, Json>>{{"offset", 2},
                                                  {"offset", 128},
                                                  {"extent", 130},
                                                  {"extent", 256},
                                                  {"start", 5},
                                                  {"wait", 5},
                                                  {"wait", nullptr},
                                                  {"id", 1},
                                                  {"scheme", "parameter-server"},
                                                  {"scheme", "factors"}}) {
    const std::string said = refusal(diloco(), (std::string("/exchanges/0/") + key).c_str(), value);
    EXPECT_NE(said.find("breaks rule P31"), std::string::npos) << key << said;
  }
}

// Shards fill the weights, one behind the other, on the servers that there are.
TEST_F(Consistency, ShardsBreakP31) {
  const Json good = served({{"form", "ssp"}, {"staleness", 3}}, 1, 4);
  const Json shards = good["shards"];
  for (const Json &wrong :
       {Json::array(), Json::array({shards[0]}), Json::array({shards[1], shards[0]}),
        Json::array({shards[0], {{"server", 1}, {"offset", 64}, {"extent", 32}}}),
        Json::array({shards[0], {{"server", 2}, {"offset", 64}, {"extent", 64}}})}) {
    const std::string said = refusal(good, "/shards", wrong);
    EXPECT_NE(said.find("rule P31"), std::string::npos) << wrong << said;
  }
  const std::string said = refusal(diloco(), "/shards", shards);
  EXPECT_NE(said.find("rule P31"), std::string::npos) << said;
  const std::string ring = refusal(good, "/exchanges/0/scheme", "ring");
  EXPECT_NE(ring.find("breaks rule P31"), std::string::npos) << ring;
}

// A wire rounds gradients, and these forms send weights.
TEST_F(Consistency, Wire) {
  plan.json["wire"] = "fp16";
  const Result<Plan> loaded = load(diloco());
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.status().message().find("'wire': expected fp32 (rule P31)"), std::string::npos)
      << loaded.status().message();
}

// Unknown words and numbers out of range are named.
TEST_F(Consistency, Numbers) {
  const auto expect = [](const std::string &said, const char *what) {
    EXPECT_NE(said.find(what), std::string::npos) << said;
  };
  expect(refusal(diloco(), "/form", "gossip"),
         "expected ssp, asp, dssp, easgd, local or diloco, got 'gossip'");
  expect(refusal(elastic("sync1", "tree", 0), "/variant", "sync4"), "sync2 or sync3, got 'sync4'");
  expect(refusal(elastic("sync1", "tree", 0), "/period", 0), "'period': 0 is out of range");
  expect(refusal(served({{"form", "ssp"}, {"staleness", 3}}, 1, 4), "/staleness", -1),
         "'staleness': -1 is out of range");
  expect(refusal(served({{"form", "dssp"}, {"lower", 3}, {"upper", 4}}, 1, 5), "/upper", 10004),
         "'upper': expected at most 10000 steps more than the lower bound of 3, got 10004");
  expect(refusal(served({{"form", "dssp"}, {"lower", 3}, {"upper", 4}}, 1, 5), "/lower", 5),
         "'upper': 4 is out of range");
}

} // namespace
} // namespace syncline
