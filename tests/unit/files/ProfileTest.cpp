// Profiles: what they mean, and what each mistake is told.
#include "frontend/files/Profile.h"
#include "tests/support/Results.h"

#include <gtest/gtest.h>

namespace syncline::files {
namespace {

std::string profileFailure(std::string_view text) {
  return test::messageOf(parseProfile(text, "p.json"));
}

// Times are read per operation; backward, name and batch may be absent.
TEST(Profile, ReadsTimes) {
  const auto profile = parseProfile(R"({"schema": 1, "name": "V100", "batch": 32, "operations": {
      "conv1": {"forward": "1.5ms", "backward": "3ms"}, "loss": {"forward": "10us"}}})",
                                    "p.json");
  ASSERT_TRUE(profile) << profile.status().message();
  EXPECT_EQ(profile->name, "V100");
  EXPECT_EQ(profile->batch, 32);
  EXPECT_EQ(profile->operations.at("conv1").forward, 0.0015);
  EXPECT_EQ(profile->operations.at("conv1").backward, 0.003);
  EXPECT_FALSE(profile->operations.at("loss").backward);
}

// What a step takes beside its operations may be absent; it is written as it was read.
TEST(Profile, Overhead) {
  const std::string_view text =
      R"({"schema": 1, "overhead": "30us", "operations": {"c": {"forward": "1ms"}}})";
  const auto profile = parseProfile(text, "p.json");
  ASSERT_TRUE(profile) << profile.status().message();
  EXPECT_EQ(profile->overhead, 30e-6);
  EXPECT_EQ(parseProfile(formatProfile(*profile), "p.json")->overhead, 30e-6);
  EXPECT_FALSE(parseProfile(R"({"schema": 1, "operations": {}})", "p.json")->overhead);
  EXPECT_EQ(profileFailure(R"({"schema": 1, "overhead": 30, "operations": {}})"),
            "p.json: 'overhead': expected a time with a unit such as \"1.5ms\", got 30");
  EXPECT_EQ(profileFailure(R"({"schema": 1, "overhead": "-1us", "operations": {}})"),
            "p.json: 'overhead': expected a time of zero or more, got '-1us'");
}

// Who measured on processors says with how many threads.
TEST(Profile, Threads) {
  const auto profile = parseProfile(R"({"schema": 1, "threads": 2, "operations": {}})", "p.json");
  ASSERT_TRUE(profile) << profile.status().message();
  EXPECT_EQ(profile->threads, 2);
  EXPECT_EQ(parseProfile(formatProfile(*profile), "p.json")->threads, 2);
  EXPECT_FALSE(parseProfile(R"({"schema": 1, "operations": {}})", "p.json")->threads);
  for (const char *none : {"0", "-1", "1.5", "65537", "\"2\"", "null"})
    EXPECT_TRUE(profileFailure(R"({"schema": 1, "threads": )" + std::string(none) +
                               R"(, "operations": {}})")
                    .starts_with("p.json: 'threads': "))
        << none;
}

// How steps scatter may be absent. Every rank has as many factors, and they are above zero.
TEST(Profile, Scatter) {
  const auto scatter = [](const std::string &text) {
    return R"({"schema": 1, "scatter": )" + text + R"(, "operations": {}})";
  };
  const auto profile = parseProfile(scatter("[[1, 1.25], [0.5, 2]]"), "p.json");
  ASSERT_TRUE(profile) << profile.status().message();
  EXPECT_EQ(profile->scatter, (std::vector<std::vector<double>>{{1, 1.25}, {0.5, 2}}));
  EXPECT_EQ(parseProfile(formatProfile(*profile), "p.json")->scatter, profile->scatter);
  EXPECT_TRUE(parseProfile(R"({"schema": 1, "operations": {}})", "p.json")->scatter.empty());
  for (const char *none : {"0", "-1", "1001", "null", "\"1.5\"", "[1]"})
    EXPECT_EQ(profileFailure(scatter("[[1, " + std::string(none) + "]]")),
              "p.json: 'scatter[0]': expected factors above 0 and up to 1000, got " +
                  std::string(none));
  EXPECT_NE(profileFailure(scatter("[[1e999]]")).find("p.json: not valid JSON"), std::string::npos);
  EXPECT_NE(profileFailure(scatter("[[NaN]]")).find("p.json: not valid JSON"), std::string::npos);
  EXPECT_EQ(profileFailure(scatter("[[1, 1], [1]]")),
            "p.json: 'scatter[1]': expected 2 factors as of rank 0, got 1");
  EXPECT_EQ(profileFailure(scatter("[[]]")),
            "p.json: 'scatter[0]': expected a list of factors, one for each step, got []");
  for (const char *none : {"[]", "1.5", "{}", "\"5%\""})
    EXPECT_EQ(profileFailure(scatter(none)),
              "p.json: 'scatter': expected a list with a list of factors for each rank, got " +
                  std::string(none));
  std::string many = "[[1";
  for (int i = 0; i < 65536; ++i)
    many += ",1";
  EXPECT_EQ(profileFailure(scatter(many + "]]")),
            "p.json: 'scatter': expected at most 65536 factors, got 65537");
}

// A number without unit, negative or NaN is no time.
TEST(Profile, BadTimes) {
  auto forward = [](const std::string &text) {
    return profileFailure(R"({"schema": 1, "operations": {"c": {"forward": )" + text + "}}}");
  };
  EXPECT_EQ(forward("1.5"), "p.json: 'operations.c.forward': expected a time with a unit such as "
                            "\"1.5ms\", got 1.5");
  EXPECT_EQ(forward("\"1.5\""), "p.json: 'operations.c.forward': expected a time with a unit such "
                                "as '1.5ms', got '1.5'");
  EXPECT_EQ(forward("\"-1ms\""),
            "p.json: 'operations.c.forward': expected a time of zero or more, got '-1ms'");
  EXPECT_EQ(forward("\"nan s\""),
            "p.json: 'operations.c.forward': expected a time that is finite, got 'nan s'");
}

// Keys are known, there, and given once.
TEST(Profile, Keys) {
  EXPECT_EQ(profileFailure(R"({"schema": 1, "operatoins": {}})"),
            "p.json: unknown key 'operatoins', did you mean 'operations'?");
  EXPECT_EQ(profileFailure(R"({"schema": 1, "operations": {"c": {"forwards": "1ms"}}})"),
            "p.json: 'operations.c': unknown key 'forwards', did you mean 'forward'?");
  EXPECT_EQ(profileFailure(R"({"schema": 1, "operations": {"c": {"backward": "1ms"}}})"),
            "p.json: 'operations.c': expected the key 'forward', got none");
  EXPECT_EQ(profileFailure(R"({"schema": 1, "operations": {"c": {"forward": "1ms"},
                                                    "c": {"forward": "2ms"}}})"),
            "p.json: key 'c' is given twice");
  EXPECT_EQ(profileFailure(R"({"schema": 1})"),
            "p.json: 'operations': expected an object of times by operation");
}

// Another schema, a batch of zero and a name that is no string are refused.
TEST(Profile, Head) {
  EXPECT_EQ(profileFailure(R"({"schema": 2, "operations": {}})"),
            "p.json: 'schema': expected 1, got 2");
  EXPECT_EQ(profileFailure(R"({"operations": {}})"), "p.json: 'schema': expected 1, got nothing");
  EXPECT_NE(
      profileFailure(R"({"schema": 1, "batch": 0, "operations": {}})").find("'batch': expected"),
      std::string::npos);
  EXPECT_EQ(profileFailure(R"({"schema": 1, "name": 3, "operations": {}})"),
            "p.json: 'name': expected a string, got number");
}

// What is no JSON has its line and column; what is no object is said to be none.
TEST(Profile, NotJson) {
  EXPECT_EQ(profileFailure(""), "p.json: expected a profile, got an empty file");
  EXPECT_EQ(profileFailure("{\"schema\": 1,\n oops}")
                .rfind("p.json: not valid JSON: parse error at line 2, column 2", 0),
            0u)
      << profileFailure("{\"schema\": 1,\n oops}");
  EXPECT_NE(profileFailure("[1]").find("expected an object with the keys"), std::string::npos);
  EXPECT_NE(profileFailure("{\"schema\": 1} x").find("not valid JSON"), std::string::npos);
}

// Nesting without end ends in a message.
TEST(Profile, DeepNesting) {
  std::string deep(100000, '[');
  deep += std::string(100000, ']');
  EXPECT_EQ(profileFailure(deep), "p.json: expected at most 8 levels");
  std::string objects;
  for (int i = 0; i < 1000; ++i)
    objects += "{\"a\":";
  EXPECT_NE(profileFailure(objects), "no error");
}

// Spread and the optimizer's rate are optional and have units.
TEST(Profile, SpreadAndUpdate) {
  const auto profile = parseProfile(R"({"schema": 1, "update": "1.5 ns/B", "operations": {
      "c": {"forward": "1ms", "spread": "20us"}}})",
                                    "p.json");
  ASSERT_TRUE(profile) << profile.status().message();
  EXPECT_DOUBLE_EQ(*profile->update, 1.5e-9);
  EXPECT_DOUBLE_EQ(*profile->operations.at("c").spread, 20e-6);
  EXPECT_EQ(profileFailure(R"({"schema": 1, "update": "1.5 ns", "operations": {}})"),
            "p.json: 'update': unknown unit 'ns' in '1.5 ns', expected a time per byte in one of "
            "s/B, ns/B, s/MB, s/GiB");
  EXPECT_EQ(profileFailure(R"({"schema": 1, "update": 3, "operations": {}})"),
            "p.json: 'update': expected a time per byte such as \"1.2 ns/B\", got 3");
}

// What is written reads the same to six digits, whatever the names.
TEST(Profile, Writes) {
  Profile profile{.name = "two \"words\"",
                  .batch = 4,
                  .precision = {},
                  .threads = {},
                  .update = 1.23456e-9,
                  .overhead = {},
                  .scatter = {},
                  .operations = {}};
  profile.operations["/a/Conv"] = {1.23456e-3, 2.5, 1e-6};
  profile.operations["\n"] = {0, std::nullopt, std::nullopt};
  const auto read = parseProfile(formatProfile(profile), "p.json");
  ASSERT_TRUE(read) << read.status().message();
  EXPECT_EQ(read->name, profile.name);
  EXPECT_EQ(read->batch, 4);
  EXPECT_NEAR(*read->update, 1.23456e-9, 1e-14);
  ASSERT_EQ(read->operations.size(), 2u);
  EXPECT_NEAR(read->operations.at("/a/Conv").forward, 1.23456e-3, 1e-8);
  EXPECT_NEAR(*read->operations.at("/a/Conv").backward, 2.5, 1e-5);
  EXPECT_EQ(read->operations.at("\n").forward, 0);
  EXPECT_FALSE(read->operations.at("\n").backward);
}

} // namespace
} // namespace syncline::files
