// Messages of a plan that ranks gather.
#include "tests/unit/api/PlanOfMessages.h"
#include "tests/unit/api/Ranks.h"

#include <array>
#include <gtest/gtest.h>

namespace syncline::testing {
namespace {

float value(int rank, int step, std::size_t i) {
  return static_cast<float>(1000 * rank + 100 * step) + static_cast<float>(i % 97);
}

/// Room for all ranks' values, of which this rank's own are there.
std::vector<float> ownOf(const Rank &rank, int step, std::size_t count) {
  std::vector<float> all(count * static_cast<std::size_t>(rank.count), -1.0f);
  for (std::size_t i = 0; i < count; ++i)
    all[static_cast<std::size_t>(rank.number) * count + i] = value(rank.number, step, i);
  return all;
}

void expectAll(const std::vector<float> &all, int ranks, int step) {
  const std::size_t count = all.size() / static_cast<std::size_t>(ranks);
  for (std::size_t i = 0; i < all.size(); ++i)
    ASSERT_EQ(all[i], value(static_cast<int>(i / count), step, i % count)) << i;
}

int gather(Rank &rank, int message, std::vector<float> &all) {
  return syncline_gather(rank.group, message, all.data(),
                         static_cast<std::int64_t>(all.size()) / rank.count, SYNCLINE_F32,
                         &rank.ticket, &rank.error);
}

class EachNumber : public ::testing::TestWithParam<int> {};

/// Lengths differ from step to step, and may be 0; a sum travels between the two.
TEST_P(EachNumber, Gathers) {
  const int ranks = GetParam();
  const PlanOfMessages plan(ranks, {{"factors", {9}}, {"ring", {50}}, {"factors", {7}, 1}});
  onRanks(ranks, {plan.folder()}, [](Rank &rank) {
    ASSERT_TRUE(rank.group) << rank.error.text;
    const std::array<std::size_t, 4> counts{3, 70'000, 0, 1};
    for (int step = 0; step < 4; ++step) {
      const std::size_t count = counts[static_cast<std::size_t>(step)];
      std::vector<float> first = ownOf(rank, step, count), last = ownOf(rank, step, count + 5),
                         sum(50, 1.0f);
      ASSERT_EQ(gather(rank, 0, first), SYNCLINE_OK) << rank.error.text;
      ASSERT_EQ(rank.issue(1, sum), SYNCLINE_OK) << rank.error.text;
      const std::uint64_t second = rank.ticket;
      ASSERT_EQ(gather(rank, 2, last), SYNCLINE_OK) << rank.error.text;
      ASSERT_EQ(rank.wait(), SYNCLINE_OK) << rank.error.text;
      ASSERT_EQ(syncline_wait(rank.group, second, -1, &rank.error), SYNCLINE_OK);
      expectAll(first, rank.count, step);
      expectAll(last, rank.count, step);
      EXPECT_EQ(sum[49], static_cast<float>(rank.count));
      ASSERT_EQ(syncline_step(rank.group, &rank.error), SYNCLINE_OK);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Gather, EachNumber, ::testing::Values(1, 2, 3, 4));

TEST(Gather, RoundsToThePlansWire) {
  PlanOfMessages plan(2, {{"factors", {100}}});
  plan.json["wire"] = "bf16";
  plan.seal();
  onRanks(2, {plan.folder()}, [](Rank &rank) {
    ASSERT_TRUE(rank.group) << rank.error.text;
    std::vector<float> all(20, 1.0f + 0x1p-12f);
    ASSERT_EQ(gather(rank, 0, all), SYNCLINE_OK) << rank.error.text;
    ASSERT_EQ(rank.wait(), SYNCLINE_OK) << rank.error.text;
    EXPECT_EQ(all, std::vector<float>(20, 1.0f)); // this rank's own, too
  });
}

TEST(Gather, CarriesOtherTypes) {
  const PlanOfMessages plan(2, {{"factors", {100}}});
  onRanks(2, {plan.folder()}, [](Rank &rank) {
    ASSERT_TRUE(rank.group) << rank.error.text;
    std::array<std::uint16_t, 2> all{};
    all[static_cast<std::size_t>(rank.number)] = static_cast<std::uint16_t>(7 + rank.number);
    ASSERT_EQ(
        syncline_gather(rank.group, 0, all.data(), 1, SYNCLINE_BF16, &rank.ticket, &rank.error),
        SYNCLINE_OK)
        << rank.error.text;
    ASSERT_EQ(rank.wait(), SYNCLINE_OK) << rank.error.text;
    EXPECT_EQ(all, (std::array<std::uint16_t, 2>{7, 8}));
    syncline_message_time time;
    std::int64_t count = 0;
    ASSERT_EQ(syncline_group_trace(rank.group, &time, 1, &count, &rank.error), SYNCLINE_OK);
    EXPECT_EQ(time.bytes, 2);
    EXPECT_STREQ(time.scheme, "factors");
  });
}

TEST(Gather, RefusesWrongCalls) {
  const PlanOfMessages plan(
      1, {{"factors", {4}}, {"ring", {4}}, {"reduce-scatter", {4}}, {"sparse", {4}}});
  onRanks(1, {plan.folder()}, [](Rank &rank) {
    ASSERT_TRUE(rank.group) << rank.error.text;
    std::vector<float> four(4, 2.0f);
    const auto refusal = [&](int message, void *data, std::int64_t count, int type) {
      EXPECT_EQ(syncline_gather(rank.group, message, data, count, type, &rank.ticket, &rank.error),
                SYNCLINE_BAD_USAGE);
      return std::string(rank.error.text);
    };
    for (const int other : {1, 2, 3})
      EXPECT_NE(refusal(other, four.data(), 4, SYNCLINE_F32).find("expected a message that"),
                std::string::npos);
    EXPECT_EQ(refusal(4, four.data(), 4, SYNCLINE_F32), "expected a message from 0 to 3, got 4");
    EXPECT_EQ(refusal(0, nullptr, 4, SYNCLINE_F32), "expected the address of data, got NULL");
    EXPECT_EQ(refusal(0, four.data(), -4, SYNCLINE_F32),
              "expected a count from 0 to 4398046511104, got -4");
    EXPECT_EQ(refusal(0, four.data(), 4, 9), "expected a syncline_type, got 9");
    ASSERT_EQ(rank.issue(1, four), SYNCLINE_OK) << rank.error.text;
    ASSERT_EQ(rank.wait(), SYNCLINE_OK) << rank.error.text;
    EXPECT_EQ(refusal(0, four.data(), 4, SYNCLINE_F32),
              "message 0 was issued after message 1 in step 0: expected the plan's order, each "
              "message once");
    EXPECT_EQ(four, std::vector<float>(4, 2.0f));
    syncline_message_info info{};
    info.size = sizeof info;
    ASSERT_EQ(syncline_plan_message(rank.plan, 0, &info, nullptr), SYNCLINE_OK);
    EXPECT_EQ(info.is_gathered, 1);
    EXPECT_EQ(info.is_carried, 0);
    ASSERT_EQ(syncline_plan_message(rank.plan, 3, &info, nullptr), SYNCLINE_OK);
    EXPECT_EQ(info.is_gathered, 0);
  });
}

/// Gradients stay on their rank, and so does what they are computed from.
TEST(Gather, RefusesLocalPlans) {
  PlanOfMessages plan(1, {{"factors", {10}}});
  plan.json["consistency"] = {{"form", "local"}, {"text", "local:4"}};
  plan.seal();
  onRanks(1, {plan.folder()}, [](Rank &rank) {
    ASSERT_TRUE(rank.group) << rank.error.text;
    std::vector<float> values(10);
    EXPECT_EQ(gather(rank, 0, values), SYNCLINE_BAD_USAGE);
  });
}

/// Both ranks' errors say which rank differs.
void expectNamed(const std::function<int(Rank &)> &call, const std::string &said,
                 double lostSeconds) {
  const PlanOfMessages plan(2, {{"factors", {10}}});
  std::array<int, 2> codes{};
  std::array<std::string, 2> texts;
  onRanks(
      2, {plan.folder()},
      [&](Rank &rank) {
        ASSERT_TRUE(rank.group) << rank.error.text;
        ASSERT_EQ(call(rank), SYNCLINE_OK) << rank.error.text;
        const auto place = static_cast<std::size_t>(rank.number);
        codes[place] = rank.wait();
        texts[place] = rank.error.text;
      },
      [&](syncline_group_options &options, int) { options.lost_seconds = lostSeconds; });
  for (const int code : codes)
    EXPECT_TRUE(code == SYNCLINE_BAD_INPUT || code == SYNCLINE_PEER_LOST) << code;
  for (const std::string &text : texts)
    EXPECT_NE(text.find(said), std::string::npos) << text;
}

TEST(Gather, NamesARankWithAnotherCount) {
  std::array<std::vector<float>, 2> data{std::vector<float>(20), std::vector<float>(22)};
  expectNamed(
      [&](Rank &rank) { return gather(rank, 0, data[static_cast<std::size_t>(rank.number)]); },
      "sent a message of ", 30);
}

/// It waits on other links.
TEST(Gather, NamesARankThatSums) {
  std::array<std::vector<float>, 2> data{std::vector<float>(20), std::vector<float>(20)};
  expectNamed(
      [&](Rank &rank) {
        std::vector<float> &own = data[static_cast<std::size_t>(rank.number)];
        if (rank.number == 0)
          return gather(rank, 0, own);
        return syncline_all_reduce(rank.group, own.data(), 20, SYNCLINE_F32, SYNCLINE_SUM,
                                   &rank.ticket, &rank.error);
      },
      "in the all-", 1);
}

} // namespace
} // namespace syncline::testing
