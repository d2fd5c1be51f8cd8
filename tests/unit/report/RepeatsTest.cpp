// Buckets that repeat each other: which are found, and how a long plan is shown.
#include "frontend/report/Repeats.h"

#include "frontend/report/BucketTable.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace syncline::report;
using nlohmann::json;

namespace {

json bucket(const std::string &name, std::int64_t bytes, const std::string &scheme = "ring") {
  return {{"members", {name}}, {"bytes", bytes}, {"scheme", scheme}, {"traffic", 2 * bytes},
          {"ready", 1},        {"start", 2},     {"end", 3},         {"reconstructed", 3},
          {"exposed", 0.5},    {"channel", 0}};
}

/// Each block has two weights and a bias; the last block is ready first.
json network(int blocks) {
  json found = json::array({bucket("head", 7)});
  for (int block = blocks; block-- > 0;) {
    const std::string name = "h." + std::to_string(block);
    found.push_back(bucket(name + ".fc.weight", 4096));
    found.push_back(bucket(name + ".attn.weight", 2048, "factors"));
    found.push_back(bucket(name + ".fc.bias", 64));
  }
  found.push_back(bucket("embedding", 9));
  for (std::size_t i = 0; i < found.size(); ++i)
    found[i]["id"] = i;
  return found;
}

std::size_t lines(const std::string &text) { return std::ranges::count(text, '\n'); }

} // namespace

TEST(RepeatsTest, FindsBlocks) {
  const std::vector<Repeat> found = repeatsOf(network(96));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].first, 1u);
  EXPECT_EQ(found[0].period, 3u);
  EXPECT_EQ(found[0].count, 96u);
}

TEST(RepeatsTest, FindsWhatDoesNotDifferAtAll) {
  json same = json::array();
  for (int i = 0; i < 10; ++i)
    same.push_back(bucket("h." + std::to_string(i), 8));
  const std::vector<Repeat> found = repeatsOf(same);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].period, 1u);
  EXPECT_EQ(found[0].count, 10u);
}

// Three times are no repeat; other bytes, schemes or cuts end one.
TEST(RepeatsTest, EndsWhereBucketsDiffer) {
  EXPECT_TRUE(repeatsOf(network(3)).empty());
  const json plain = network(9);
  const json changes{{"bytes", 1}, {"scheme", "ps"}, {"cut", 1}};
  for (const auto &[field, value] : changes.items()) {
    json changed = plain;
    changed[13][field] = value; // the fifth block's first
    const std::vector<Repeat> found = repeatsOf(changed);
    ASSERT_EQ(found.size(), 2u) << field;
    EXPECT_EQ(found[0].size(), 12u) << field;
    EXPECT_EQ(found[1].size(), 12u) << field;
    EXPECT_GT(found[1].first, 13u) << field;
  }
  EXPECT_TRUE(repeatsOf(json::array()).empty());
}

TEST(RepeatsTest, ALineStandsForFurtherBlocks) {
  const json plan{{"buckets", network(96)}};
  const std::string text = bucketTable(plan, false);
  EXPECT_EQ(lines(text), 1u + 1 + 3 + 1 + 1 + 3) << text;
  EXPECT_NE(text.find("4..288  95 times more, h.94.fc.weight .. h.0.fc.bias  576 KiB"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(" 142 s\n"), std::string::npos) << text; // exposed: 285 x 0.5 s
  EXPECT_NE(text.find("\n   289  embedding "), std::string::npos) << text;
  EXPECT_EQ(lines(bucketTable(plan, true)), 1u + 290 + 2);
}

TEST(RepeatsTest, AShortPlanIsShownWhole) {
  const std::string text = bucketTable({{"buckets", network(12)}}, false);
  EXPECT_EQ(lines(text), 1u + 38 + 2) << text;
}
