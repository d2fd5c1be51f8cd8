// Messages of a plan whose update ranks shard.
#include "tests/unit/api/PlanOfMessages.h"
#include "tests/unit/api/Ranks.h"

#include <array>
#include <gtest/gtest.h>

namespace syncline::testing {
namespace {

float value(int rank, int step, std::size_t i) {
  return static_cast<float>(8 * (rank + 1) * (step + 1)) + static_cast<float>(i % 64);
}

int reduceScatter(Rank &rank, int message, std::vector<float> &values,
                  syncline_operation how = SYNCLINE_SUM) {
  return syncline_reduce_scatter(rank.group, message, values.data(),
                                 static_cast<std::int64_t>(values.size()), SYNCLINE_F32, how,
                                 &rank.ticket, &rank.error);
}

int allGather(Rank &rank, int message, std::vector<float> &values) {
  return syncline_all_gather(rank.group, message, values.data(),
                             static_cast<std::int64_t>(values.size()), SYNCLINE_F32, &rank.ticket,
                             &rank.error);
}

struct Shard {
  std::int64_t offset = -1, count = -1;
  std::size_t begin() const { return static_cast<std::size_t>(offset); }
  std::size_t end() const { return static_cast<std::size_t>(offset + count); }
};

Shard shardOf(Rank &rank, int message) {
  Shard shard;
  EXPECT_EQ(syncline_shard(rank.group, message, &shard.offset, &shard.count, &rank.error),
            SYNCLINE_OK)
      << rank.error.text;
  return shard;
}

class ShardsOf : public ::testing::TestWithParam<int> {};

TEST_P(ShardsOf, ShardsLieOneBehindTheOther) {
  const int ranks = GetParam();
  const PlanOfMessages plan(ranks, {{"reduce-scatter", {70'001}}, {"reduce-scatter", {1}}});
  std::vector<std::array<Shard, 2>> all(static_cast<std::size_t>(ranks));
  onRanks(ranks, {plan.folder()}, [&](Rank &rank) {
    ASSERT_TRUE(rank.group) << rank.error.text;
    for (const int message : {0, 1})
      all[static_cast<std::size_t>(rank.number)][static_cast<std::size_t>(message)] =
          shardOf(rank, message);
  });
  for (const auto &[message, count] : {std::pair<std::size_t, std::int64_t>{0, 70'001}, {1, 1}}) {
    std::int64_t end = 0;
    for (const auto &rank : all) {
      EXPECT_EQ(rank[message].offset, end);
      EXPECT_GE(rank[message].count, 0);
      EXPECT_LE(rank[message].count, count / ranks + 1024);
      end += rank[message].count;
    }
    EXPECT_EQ(end, count);
  }
}

/// In place: the mean of gradients, each rank's change of its shard, and all shards on all ranks;
/// a sum travels between the halves.
TEST_P(ShardsOf, UpdatesInPlace) {
  const int ranks = GetParam();
  const std::size_t count = 70'001;
  const PlanOfMessages plan(ranks, {{"reduce-scatter", {70'000, 1}}, {"ring", {50}, 1}});
  onRanks(ranks, {plan.folder()}, [&](Rank &rank) {
    ASSERT_TRUE(rank.group) << rank.error.text;
    const Shard own = shardOf(rank, 0);
    for (int step = 0; step < 3; ++step) {
      std::vector<float> values(count), sum(50, 1.0f);
      for (std::size_t i = 0; i < count; ++i)
        values[i] = value(rank.number, step, i);
      const syncline_operation how = step == 1 ? SYNCLINE_SUM : SYNCLINE_MEAN;
      ASSERT_EQ(reduceScatter(rank, 0, values, how), SYNCLINE_OK) << rank.error.text;
      const std::uint64_t first = rank.ticket;
      ASSERT_EQ(rank.issue(1, sum), SYNCLINE_OK) << rank.error.text;
      const std::uint64_t second = rank.ticket;
      ASSERT_EQ(syncline_wait(rank.group, first, -1, &rank.error), SYNCLINE_OK) << rank.error.text;
      const auto expected = [&](std::size_t i) {
        float all = 0;
        for (int r = 0; r < ranks; ++r)
          all += value(r, step, i);
        return how == SYNCLINE_MEAN ? all / static_cast<float>(ranks) : all;
      };
      for (std::size_t i = own.begin(); i < own.end(); ++i) {
        ASSERT_EQ(values[i], expected(i)) << i;
        values[i] += 1;
      }
      ASSERT_EQ(allGather(rank, 0, values), SYNCLINE_OK) << rank.error.text;
      ASSERT_EQ(rank.wait(), SYNCLINE_OK) << rank.error.text;
      for (std::size_t i = 0; i < count; ++i)
        ASSERT_EQ(values[i], expected(i) + 1) << i;
      ASSERT_EQ(syncline_wait(rank.group, second, -1, &rank.error), SYNCLINE_OK) << rank.error.text;
      EXPECT_EQ(sum, std::vector<float>(50, static_cast<float>(ranks)));
      ASSERT_EQ(syncline_step(rank.group, &rank.error), SYNCLINE_OK);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Shards, ShardsOf, ::testing::Values(1, 2, 3, 4));

/// Gradients are rounded on their way; what is gathered is not.
TEST(Shards, RoundToThePlansWire) {
  PlanOfMessages plan(2, {{"reduce-scatter", {100}}});
  plan.json["wire"] = "bf16";
  plan.seal();
  onRanks(2, {plan.folder()}, [](Rank &rank) {
    ASSERT_TRUE(rank.group) << rank.error.text;
    const float fine = 1.0f + 0x1p-12f;
    std::vector<float> values(100, rank.number == 0 ? fine : 2 * fine);
    const Shard own = shardOf(rank, 0);
    ASSERT_EQ(reduceScatter(rank, 0, values), SYNCLINE_OK) << rank.error.text;
    ASSERT_EQ(rank.wait(), SYNCLINE_OK) << rank.error.text;
    // The other rank's part is rounded.
    const float expected = rank.number == 0 ? fine + 2.0f : 2 * fine + 1.0f;
    for (std::size_t i = own.begin(); i < own.end(); ++i)
      ASSERT_EQ(values[i], expected) << i;
    std::fill_n(values.begin() + own.offset, own.count, fine);
    ASSERT_EQ(allGather(rank, 0, values), SYNCLINE_OK) << rank.error.text;
    ASSERT_EQ(rank.wait(), SYNCLINE_OK) << rank.error.text;
    EXPECT_EQ(values, std::vector<float>(100, fine));
  });
}

/// The gather has the step of its message, no place in the order, and needs no sum before it.
TEST(Shards, GatherAtAnyTime) {
  const PlanOfMessages plan(1, {{"reduce-scatter", {4}}, {"ring", {4}}});
  onRanks(1, {plan.folder()}, [](Rank &rank) {
    ASSERT_TRUE(rank.group) << rank.error.text;
    std::vector<float> values(4, 3.0f), others(4);
    ASSERT_EQ(allGather(rank, 0, values), SYNCLINE_OK) << rank.error.text;
    ASSERT_EQ(rank.wait(), SYNCLINE_OK);
    ASSERT_EQ(reduceScatter(rank, 0, values), SYNCLINE_OK) << rank.error.text;
    ASSERT_EQ(rank.wait(), SYNCLINE_OK);
    ASSERT_EQ(rank.issue(1, others), SYNCLINE_OK) << rank.error.text;
    ASSERT_EQ(rank.wait(), SYNCLINE_OK);
    ASSERT_EQ(allGather(rank, 0, values), SYNCLINE_OK) << rank.error.text;
    ASSERT_EQ(rank.wait(), SYNCLINE_OK);
    EXPECT_EQ(values, std::vector<float>(4, 3.0f));
    std::array<syncline_message_time, 8> times;
    std::int64_t count = 0;
    ASSERT_EQ(syncline_group_trace(rank.group, times.data(), 8, &count, &rank.error), SYNCLINE_OK);
    ASSERT_EQ(count, 4);
    EXPECT_EQ(times[0].half, 2);
    EXPECT_EQ(times[1].half, 1);
    EXPECT_EQ(times[2].half, 0);
    EXPECT_STREQ(times[3].scheme, "reduce-scatter");
  });
}

TEST(Shards, RefuseWrongCalls) {
  const PlanOfMessages plan(1, {{"reduce-scatter", {4}}, {"ring", {4}}, {"factors", {4}}});
  onRanks(1, {plan.folder()}, [](Rank &rank) {
    ASSERT_TRUE(rank.group) << rank.error.text;
    std::vector<float> four(4, 2.0f), five(5);
    std::int64_t offset = 0, count = 0;
    const auto refusal = [&](int code) {
      EXPECT_EQ(code, SYNCLINE_BAD_USAGE);
      return std::string(rank.error.text);
    };
    const std::string other = "message 1 travels by 'ring': expected a message that is_sharded";
    EXPECT_EQ(refusal(reduceScatter(rank, 1, four)), other);
    EXPECT_EQ(refusal(allGather(rank, 1, four)), other);
    EXPECT_EQ(refusal(syncline_shard(rank.group, 1, &offset, &count, &rank.error)), other);
    EXPECT_EQ(refusal(reduceScatter(rank, 2, four)),
              "message 2 travels by 'factors': expected a message that is_sharded");
    EXPECT_EQ(refusal(allGather(rank, 3, four)), "expected a message from 0 to 2, got 3");
    EXPECT_EQ(refusal(reduceScatter(rank, 0, five)),
              "message 0: expected 4 elements of 'f32', got 5 of 'f32'");
    EXPECT_EQ(refusal(allGather(rank, 0, five)),
              "message 0: expected 4 elements of 'f32', got 5 of 'f32'");
    EXPECT_EQ(refusal(syncline_shard(rank.group, 0, nullptr, &count, &rank.error)),
              "expected a place for the offset, got NULL");
    EXPECT_EQ(refusal(syncline_shard(rank.group, 0, &offset, nullptr, &rank.error)),
              "expected a place for the count, got NULL");
    ASSERT_EQ(rank.issue(1, four), SYNCLINE_OK) << rank.error.text;
    ASSERT_EQ(rank.wait(), SYNCLINE_OK);
    EXPECT_EQ(refusal(reduceScatter(rank, 0, four)),
              "message 0 was issued after message 1 in step 0: expected the plan's order, each "
              "message once");
    syncline_message_info info{};
    info.size = sizeof info;
    for (const int message : {0, 1, 2}) {
      ASSERT_EQ(syncline_plan_message(rank.plan, message, &info, nullptr), SYNCLINE_OK);
      EXPECT_EQ(info.is_sharded, message == 0);
    }
  });
}

/// What travels by shards stays on its rank where weights travel.
TEST(Shards, AreNoneInLocalPlans) {
  PlanOfMessages plan(1, {{"reduce-scatter", {10}}});
  plan.json["consistency"] = {{"form", "local"}, {"text", "local:4"}};
  plan.seal();
  onRanks(1, {plan.folder()}, [](Rank &rank) {
    ASSERT_TRUE(rank.group) << rank.error.text;
    std::vector<float> values(10);
    EXPECT_EQ(reduceScatter(rank, 0, values), SYNCLINE_BAD_USAGE);
  });
}

/// One rank sums while the other one gathers, in the same message: both learn of it.
TEST(Shards, NameARankInTheOtherHalf) {
  const PlanOfMessages plan(2, {{"reduce-scatter", {10}}});
  onRanks(2, {plan.folder()}, [](Rank &rank) {
    ASSERT_TRUE(rank.group) << rank.error.text;
    std::vector<float> values(10);
    ASSERT_EQ(rank.number == 0 ? reduceScatter(rank, 0, values) : allGather(rank, 0, values),
              SYNCLINE_OK);
    const int code = rank.wait();
    EXPECT_TRUE(code == SYNCLINE_BAD_INPUT || code == SYNCLINE_PEER_LOST) << code;
    EXPECT_NE(std::string(rank.error.text).find("values of 'f32'"), std::string::npos)
        << rank.error.text;
  });
}

} // namespace
} // namespace syncline::testing
