// What the C interface says of a plan.
#include "tests/unit/api/PlanOfMessages.h"

#include "syncline.h"

#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>

extern "C" int synclineInC(const char *folder, char *text, size_t room);

namespace syncline::testing {
namespace {

struct Close {
  void operator()(syncline_plan *plan) const { syncline_plan_close(plan); }
};
using Plan = std::unique_ptr<syncline_plan, Close>;

Plan openedPlan(const PlanOfMessages &folder) {
  syncline_plan *plan = nullptr;
  syncline_error error;
  EXPECT_EQ(syncline_plan_open(folder.folder().c_str(), &plan, &error), SYNCLINE_OK) << error.text;
  EXPECT_STREQ(error.text, "");
  return Plan(plan);
}

std::string refusal(const std::string &folder) {
  syncline_plan *plan = nullptr;
  syncline_error error;
  EXPECT_EQ(syncline_plan_open(folder.c_str(), &plan, &error), SYNCLINE_BAD_INPUT);
  EXPECT_EQ(error.code, SYNCLINE_BAD_INPUT);
  EXPECT_EQ(plan, nullptr);
  return error.text;
}

TEST(OpenPlan, SaysWhatThePlanIs) {
  const PlanOfMessages folder(4, {{"ring", {10, 20}}, {"tree", {5}, 1}}, 2);
  const Plan plan = openedPlan(folder);
  syncline_plan_info info{};
  info.size = sizeof info;
  ASSERT_EQ(syncline_plan_about(plan.get(), &info, nullptr), SYNCLINE_OK);
  EXPECT_EQ(info.ranks, 4);
  EXPECT_EQ(info.ranks_per_node, 2);
  EXPECT_EQ(info.messages, 2);
  EXPECT_EQ(info.step, 2.0);
  EXPECT_STREQ(info.name, "messages");
  EXPECT_STREQ(info.wire, "fp32");
  EXPECT_STREQ(info.consistency, "bsp");
  EXPECT_EQ(std::strlen(info.hash), 64u);
}

TEST(OpenPlan, SaysWhatAMessageHolds) {
  PlanOfMessages folder(4, {{"ring", {10, 20}}, {"tree", {5}, 1}, {"factors", {9}}});
  folder.json["buckets"][0]["cut"] = {8, 16};
  folder.json["buckets"][0]["bytes"] = 120 - 24;
  folder.seal();
  const Plan plan = openedPlan(folder);
  syncline_message_info info{};
  info.size = sizeof info;
  ASSERT_EQ(syncline_plan_message(plan.get(), 0, &info, nullptr), SYNCLINE_OK);
  EXPECT_EQ(info.bytes, 96);
  EXPECT_EQ(info.count, 24);
  EXPECT_EQ(info.members, 2);
  EXPECT_EQ(info.type, SYNCLINE_F32);
  EXPECT_STREQ(info.scheme, "ring");
  EXPECT_TRUE(info.is_carried);
  EXPECT_STREQ(info.why_not, "");
  syncline_member_info member{};
  member.size = sizeof member;
  ASSERT_EQ(syncline_plan_member(plan.get(), 0, 0, &member, nullptr), SYNCLINE_OK);
  EXPECT_STREQ(member.name, "m0.p0");
  EXPECT_EQ(member.offset, 0);
  EXPECT_EQ(member.skipped, 8);
  EXPECT_EQ(member.bytes, 32);
  EXPECT_EQ(member.whole, 40);
  ASSERT_EQ(syncline_plan_member(plan.get(), 0, 1, &member, nullptr), SYNCLINE_OK);
  EXPECT_EQ(member.offset, 32);
  EXPECT_EQ(member.bytes, 64);
  ASSERT_EQ(syncline_plan_message(plan.get(), 2, &info, nullptr), SYNCLINE_OK);
  EXPECT_FALSE(info.is_carried);
  EXPECT_STREQ(info.why_not, "the scheme gathers what gradients are computed from, not gradients");
}

/// A program of an older header has shorter structs; what it has not is not written.
TEST(OpenPlan, WritesNoMoreThanTheCallersStructHas) {
  const PlanOfMessages folder(2, {{}});
  const Plan plan = openedPlan(folder);
  syncline_plan_info info;
  std::memset(&info, 0x55, sizeof info);
  info.size = 8;
  ASSERT_EQ(syncline_plan_about(plan.get(), &info, nullptr), SYNCLINE_OK);
  EXPECT_EQ(info.size, 8u);
  EXPECT_EQ(info.ranks, 2);
  EXPECT_EQ(info.servers, 0x55555555);
  info.size = 0;
  EXPECT_EQ(syncline_plan_about(plan.get(), &info, nullptr), SYNCLINE_BAD_USAGE);
}

TEST(OpenPlan, RefusesBadFolders) {
  PlanOfMessages folder(2, {{}});
  EXPECT_EQ(refusal("/nowhere.plan"), "'/nowhere.plan': cannot open: No such file or directory");
  folder.json["name"] = "another";
  folder.seal();
  folder.json["buckets"][0]["bytes"] = 4;
  folder.seal();
  EXPECT_EQ(refusal(folder.folder()), "'" + folder.folder() +
                                          "/plan.json': bucket 0 has members of 4000 bytes, "
                                          "expected 4");
  folder.json["buckets"][0]["bytes"] = 4000;
  folder.json["cluster"]["link"].erase("beta");
  folder.seal();
  EXPECT_EQ(refusal(folder.folder()), "'cluster': missing 'beta'");
  folder.json.erase("wire");
  folder.seal();
  EXPECT_EQ(refusal(folder.folder()), "'" + folder.folder() + "/plan.json': missing 'wire'");
}

TEST(OpenPlan, RefusesAChangedPlan) {
  PlanOfMessages folder(2, {{}});
  folder.json["hashes"]["plan"] = std::string(64, '0');
  std::ofstream(folder.folder() + "/plan.json") << folder.json;
  EXPECT_EQ(refusal(folder.folder()),
            "'" + folder.folder() +
                "/plan.json': the file was changed after it was compiled: its hash differs");
}

TEST(OpenPlan, RefusesNumbersBeyondTheEnd) {
  const PlanOfMessages folder(2, {{}});
  const Plan plan = openedPlan(folder);
  syncline_error error;
  syncline_message_info info{};
  info.size = sizeof info;
  EXPECT_EQ(syncline_plan_message(plan.get(), 1, &info, &error), SYNCLINE_BAD_USAGE);
  EXPECT_STREQ(error.text, "expected a message from 0 to 0, got 1");
  syncline_member_info member{};
  member.size = sizeof member;
  EXPECT_EQ(syncline_plan_member(plan.get(), 0, -1, &member, &error), SYNCLINE_BAD_USAGE);
  EXPECT_STREQ(error.text, "message 0: expected a member from 0 to 0, got -1");
  EXPECT_EQ(syncline_plan_open(nullptr, nullptr, &error), SYNCLINE_BAD_USAGE);
  EXPECT_STREQ(error.text, "expected a folder, got NULL");
}

TEST(OpenPlan, RefusesWhatIsClosedOrNull) {
  const PlanOfMessages folder(2, {});
  syncline_plan *plan = nullptr;
  syncline_error error;
  const auto refusal = [&](int code) {
    EXPECT_EQ(code, SYNCLINE_BAD_USAGE);
    return std::string(error.text);
  };
  ASSERT_EQ(syncline_plan_open(folder.folder().c_str(), &plan, &error), SYNCLINE_OK) << error.text;
  syncline_plan_info about{};
  syncline_message_info message{};
  EXPECT_EQ(refusal(syncline_plan_about(plan, nullptr, &error)),
            "expected a place for the syncline_plan_info, got NULL");
  EXPECT_EQ(refusal(syncline_plan_about(plan, &about, &error)),
            "syncline_plan_info: expected its size in 'size'");
  about.size = sizeof about;
  message.size = sizeof message;
  EXPECT_EQ(refusal(syncline_plan_message(plan, 0, &message, &error)),
            "expected a plan with messages, got one without");
  EXPECT_EQ(refusal(syncline_plan_choose(plan, -1, nullptr, nullptr, &error)),
            "expected bytes from 0 on, got -1");
  EXPECT_EQ(syncline_plan_choose(plan, INT64_MAX, nullptr, nullptr, &error), SYNCLINE_OK);
  EXPECT_EQ(refusal(syncline_plan_open(folder.folder().c_str(), nullptr, &error)),
            "expected a place for the plan, got NULL");
  EXPECT_EQ(refusal(syncline_plan_about(nullptr, &about, &error)), "expected a plan, got NULL");
  syncline_plan_close(plan);
  syncline_plan_close(plan);
  syncline_plan_close(nullptr);
  const std::string closed = "expected an open plan, got one that is closed";
  EXPECT_EQ(refusal(syncline_plan_about(plan, &about, &error)), closed);
  EXPECT_EQ(refusal(syncline_plan_message(plan, 0, &message, &error)), closed);
  EXPECT_EQ(refusal(syncline_plan_member(plan, 0, 0, nullptr, &error)), closed);
  EXPECT_EQ(refusal(syncline_plan_choose(plan, 1, nullptr, nullptr, &error)), closed);
  syncline_group *group = nullptr;
  EXPECT_EQ(refusal(syncline_group_join(plan, nullptr, &group, &error)), closed);
}

/// A file of 3 GiB is not read: reading it would take a processor longer than 0.2 s.
TEST(OpenPlan, RefusesALargeFile) {
  const PlanOfMessages folder(2, {{}});
  std::filesystem::resize_file(folder.folder() + "/plan.json", std::uintmax_t{3} << 30);
  const std::clock_t begin = std::clock();
  EXPECT_EQ(refusal(folder.folder()), "'" + folder.folder() +
                                          "/plan.json': expected at most 268435456 bytes, got "
                                          "3221225472");
  EXPECT_LT(std::clock() - begin, CLOCKS_PER_SEC / 5);
}

TEST(OpenPlan, ChoosesTheCheapestScheme) {
  PlanOfMessages folder(8, {{}});
  const auto chosen = [&](std::int64_t bytes) {
    const Plan plan = openedPlan(folder);
    const char *scheme = "";
    double seconds = -1;
    EXPECT_EQ(syncline_plan_choose(plan.get(), bytes, &scheme, &seconds, nullptr), SYNCLINE_OK);
    EXPECT_GT(seconds, 0);
    return std::string(scheme);
  };
  // Formulas give 3 a + 3 n b, and 6 a + 7/4 n b.
  EXPECT_EQ(chosen(1000), "recursive-doubling");
  EXPECT_EQ(chosen(std::int64_t{1} << 30), "halving-doubling");
  folder.json["cluster"]["collectives"] = {
      {{"scheme", "ring"}, {"cost", {{"kind", "line"}, {"a", 1e-6}, {"b", 1e-9}}}},
      {{"scheme", "tree"}, {"cost", {{"kind", "table"}, {"points", {{0, 1e-3}, {1000000, 1e-4}}}}}},
      {{"scheme", "library"}, {"cost", {{"kind", "line"}, {"a", 0}, {"b", 0}}}}};
  folder.seal();
  EXPECT_EQ(chosen(1000), "ring");
  EXPECT_EQ(chosen(1000000), "tree");
  folder.json["cluster"]["collectives"] = nlohmann::json::array();
  folder.json["cluster"]["overrides"] = {
      {{"nodes", {1}}, {"slowdown", 1}, {"link", {{"alpha", 1.0}, {"beta", 1e-9}, {"gamma", 0}}}}};
  folder.seal();
  EXPECT_EQ(chosen(std::int64_t{1} << 29), "recursive-doubling"); // the slowest latency counts
}

/// Whatever stands in the place of a value: the plan is refused, or opened and can be asked.
TEST(OpenPlan, SurvivesAnyValue) {
  PlanOfMessages folder(6, {{"ring", {10, 20}}, {"tree", {5}, 1}});
  folder.json["buckets"][0]["cut"] = {8, 16};
  folder.json["buckets"][0]["bytes"] = 96;
  folder.json["cluster"]["inside"] = {{"alpha", 0}, {"beta", 1e-10}, {"gamma", 0}};
  folder.json["cluster"]["overrides"] = {{{"link", {{"alpha", 1}, {"beta", 1}, {"gamma", 1}}}}};
  nlohmann::json stated = folder.json;
  stated["cluster"]["collectives"] = {
      {{"scheme", "ring"}, {"cost", {{"kind", "table"}, {"points", {{0, 1}, {9, 2}}}}}},
      {{"scheme", "tree"},
       {"cost",
        {{"kind", "formula"},
         {"algorithm", "tree"},
         {"ranks", 6},
         {"alpha", 1},
         {"beta", 1},
         {"gamma", 1}}}}};
  const nlohmann::json values[] = {
      nullptr, true, -1, 0, 1, 1.5, 1e300, std::int64_t{1} << 62, UINT64_MAX, "", "ring", {}, {{}}};
  int opened = 0, refused = 0;
  for (const nlohmann::json &whole : {folder.json, stated}) {
    const nlohmann::json flat = whole.flatten();
    for (const auto &[path, old] : flat.items())
      for (const nlohmann::json &value : values) {
        folder.json = whole;
        folder.json[nlohmann::json::json_pointer(path)] = value;
        if (path.starts_with("/hashes"))
          continue;
        folder.seal();
        syncline_plan *plan = nullptr;
        syncline_error error;
        const int code = syncline_plan_open(folder.folder().c_str(), &plan, &error);
        ++(plan ? opened : refused);
        EXPECT_EQ(code, plan ? SYNCLINE_OK : SYNCLINE_BAD_INPUT) << path << " " << error.text;
        const Plan held(plan);
        for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{1} << 60})
          EXPECT_EQ(syncline_plan_choose(plan, bytes, nullptr, nullptr, nullptr),
                    plan ? SYNCLINE_OK : SYNCLINE_BAD_USAGE);
      }
  }
  EXPECT_GT(opened, 100);
  EXPECT_GT(refused, 300);
}

TEST(OpenPlan, RefusesNumbersThatNoClusterHas) {
  PlanOfMessages folder(2, {{}});
  folder.json["cluster"]["link"]["beta"] = 1e10;
  folder.seal();
  EXPECT_EQ(refusal(folder.folder()),
            "'cluster': 'beta': expected at most 1e9 s, got 10000000000.0");
  folder.json["cluster"]["collectives"] = {
      {{"scheme", "ring"}, {"cost", {{"kind", "table"}, {"points", {{-1, 1}}}}}}};
  folder.seal();
  EXPECT_EQ(refusal(folder.folder()), "'cluster': 'points': expected bytes from 0 to 2^53, got -1");
  folder.json["buckets"][0]["cut"] = {0, -4};
  folder.seal();
  EXPECT_EQ(refusal(folder.folder()), "'" + folder.folder() +
                                          "/plan.json': 'cut': expected numbers from 0 to 2^46, "
                                          "got [0,-4]");
}

TEST(OpenPlan, IsOpenedByPlainC) {
  const PlanOfMessages folder(2, {{}});
  char text[200];
  EXPECT_EQ(synclineInC(folder.folder().c_str(), text, sizeof text), SYNCLINE_OK) << text;
  EXPECT_EQ(synclineInC("/nowhere", text, sizeof text), SYNCLINE_BAD_INPUT);
  EXPECT_STREQ(text, "'/nowhere': cannot open: No such file or directory");
}

TEST(OpenPlan, SaysItsVersion) {
  EXPECT_EQ(syncline_api_number(), SYNCLINE_API_NUMBER);
  EXPECT_STRNE(syncline_version(), "");
}

} // namespace
} // namespace syncline::testing
