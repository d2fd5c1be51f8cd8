// Messages of a plan, summed over ranks that are threads.
#include "tests/unit/api/PlanOfMessages.h"
#include "tests/unit/api/Ranks.h"

#include <atomic>
#include <gtest/gtest.h>

namespace syncline::testing {
namespace {

/// What rank `rank` adds to element i. Sums over few ranks are exact in f32, and in bf16.
float part(int rank, std::size_t i) { return static_cast<float>((rank + 1) * (1 + i % 7)); }

std::vector<float> parts(int rank, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = part(rank, i);
  return values;
}

void expectSum(const std::vector<float> &values, int ranks, float divisor = 1) {
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(values[i], part(0, i) * static_cast<float>(ranks * (ranks + 1) / 2) / divisor) << i;
}

struct Shape {
  std::string scheme;
  int ranks;
};

class EachScheme : public ::testing::TestWithParam<Shape> {};

TEST_P(EachScheme, SumsTheMessage) {
  const auto &[scheme, ranks] = GetParam();
  const int devices = ranks % 2 == 0 ? 2 : 1;
  const PlanOfMessages plan(ranks, {{scheme, {3}}, {scheme, {70'000}}}, devices);
  onRanks(ranks, {plan.folder()}, [&](Rank &rank) {
    ASSERT_TRUE(rank.group) << rank.error.text;
    for (int step = 0; step < 3; ++step) {
      std::vector<float> few = parts(rank.number, 3), many = parts(rank.number, 70'000);
      ASSERT_EQ(rank.issue(0, few), SYNCLINE_OK) << rank.error.text;
      const std::uint64_t first = rank.ticket;
      ASSERT_EQ(rank.issue(1, many, SYNCLINE_MEAN), SYNCLINE_OK) << rank.error.text;
      ASSERT_EQ(rank.wait(), SYNCLINE_OK) << rank.error.text;
      ASSERT_EQ(syncline_wait(rank.group, first, 0, &rank.error), SYNCLINE_OK);
      expectSum(few, rank.count);
      expectSum(many, rank.count, static_cast<float>(rank.count));
      ASSERT_EQ(syncline_step(rank.group, &rank.error), SYNCLINE_OK);
    }
  });
}

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (const char *scheme : {"ring", "recursive-doubling", "halving-doubling", "tree",
                             "hierarchical", "parameter-server"})
    for (int ranks = 1; ranks <= 4; ++ranks)
      all.push_back({scheme, ranks});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Group, EachScheme, ::testing::ValuesIn(shapes()));

TEST(Group, RoundsToThePlansWire) {
  PlanOfMessages plan(2, {{"ring", {100}}});
  plan.json["wire"] = "bf16";
  plan.seal();
  onRanks(2, {plan.folder()}, [](Rank &rank) {
    ASSERT_TRUE(rank.group) << rank.error.text;
    std::vector<float> values(100, rank.number == 0 ? 1.0f + 0x1p-12f : 2.0f), other = values;
    ASSERT_EQ(rank.issue(0, values), SYNCLINE_OK) << rank.error.text;
    ASSERT_EQ(rank.wait(), SYNCLINE_OK) << rank.error.text;
    EXPECT_EQ(values[99], 3.0f);
    ASSERT_EQ(syncline_all_reduce(rank.group, other.data(), 100, SYNCLINE_F32, SYNCLINE_SUM,
                                  &rank.ticket, &rank.error),
              SYNCLINE_OK);
    ASSERT_EQ(rank.wait(), SYNCLINE_OK) << rank.error.text;
    EXPECT_EQ(other[99], 3.0f + 0x1p-12f); // no message of the plan
  });
}

template <typename T>
void expectReduced(Rank &rank, syncline_type type, T own, syncline_operation how, T expected) {
  std::vector<T> values(33, own);
  ASSERT_EQ(
      syncline_all_reduce(rank.group, values.data(), 33, type, how, &rank.ticket, &rank.error),
      SYNCLINE_OK)
      << rank.error.text;
  ASSERT_EQ(rank.wait(), SYNCLINE_OK) << rank.error.text;
  for (const T value : values)
    ASSERT_EQ(value, expected) << "type " << type;
}

TEST(Group, ReducesOtherMessagesOfEachType) {
  const PlanOfMessages plan(3, {{}});
  onRanks(3, {plan.folder()}, [](Rank &rank) {
    ASSERT_TRUE(rank.group) << rank.error.text;
    const int one = rank.number + 1; // 1, 2 and 3
    expectReduced<float>(rank, SYNCLINE_F32, one, SYNCLINE_MEAN, 2);
    expectReduced<double>(rank, SYNCLINE_F64, one + 0x1p-40, SYNCLINE_SUM, 6 + 3 * 0x1p-40);
    expectReduced<double>(rank, SYNCLINE_F64, one, SYNCLINE_MEAN, 2);
    expectReduced<std::int64_t>(rank, SYNCLINE_I64, std::int64_t{1} << 40, SYNCLINE_SUM,
                                3 * (std::int64_t{1} << 40));
    expectReduced<std::int32_t>(rank, SYNCLINE_I32, one, SYNCLINE_SUM, 6);
    expectReduced<std::uint16_t>(rank, SYNCLINE_BF16, 0x3f80, SYNCLINE_SUM, 0x4040); // 1 and 3
    expectReduced<std::uint16_t>(rank, SYNCLINE_BF16, 0x4040, SYNCLINE_MEAN, 0x4040);
    expectReduced<std::uint16_t>(rank, SYNCLINE_F16, 0x3c00, SYNCLINE_SUM, 0x4200);
  });
}

/// The caller sends weights itself; gradients stay on their rank.
TEST(Group, ReducesWeightsOfLocalPlans) {
  PlanOfMessages plan(2, {{"ring", {10}}});
  for (const std::string form : {"local", "diloco"}) {
    plan.json["consistency"] = {{"form", form}, {"text", form + ":4"}};
    plan.seal();
    onRanks(2, {plan.folder()}, [](Rank &rank) {
      ASSERT_TRUE(rank.group) << rank.error.text;
      expectReduced<float>(rank, SYNCLINE_F32, rank.number + 1, SYNCLINE_MEAN, 1.5);
      std::vector<float> values(10);
      EXPECT_EQ(rank.issue(0, values), SYNCLINE_BAD_USAGE);
      EXPECT_STREQ(rank.error.text,
                   "message 0: by the plan's consistency gradients stay on their rank; expected "
                   "syncline_all_reduce() for the weights alone");
    });
  }
}

TEST(Group, CarriesPlansOfSeveralChannels) {
  const PlanOfMessages plan(2, {{"ring", {50'000}, 1}, {"tree", {10}, 0}});
  onRanks(2, {plan.folder()}, [](Rank &rank) {
    ASSERT_TRUE(rank.group) << rank.error.text;
    std::vector<float> many = parts(rank.number, 50'000), few = parts(rank.number, 10);
    ASSERT_EQ(rank.issue(0, many), SYNCLINE_OK) << rank.error.text;
    const std::uint64_t first = rank.ticket;
    ASSERT_EQ(rank.issue(1, few), SYNCLINE_OK) << rank.error.text;
    ASSERT_EQ(rank.wait(), SYNCLINE_OK) << rank.error.text;
    ASSERT_EQ(syncline_wait(rank.group, first, 20, &rank.error), SYNCLINE_OK);
    expectSum(many, 2);
    expectSum(few, 2);
  });
}

/// Each ticket's end is told once, before wait() returns.
TEST(Group, CallsWhenAMessageHasArrived) {
  const PlanOfMessages plan(2, {{"ring", {10}}, {"ring", {20}}});
  struct Told {
    std::mutex mutex;
    std::vector<std::uint64_t> tickets;
  } told[2];
  onRanks(
      2, {plan.folder()},
      [&](Rank &rank) {
        ASSERT_TRUE(rank.group) << rank.error.text;
        std::vector<float> a(10, 1.0f), b(20, 1.0f);
        ASSERT_EQ(rank.issue(0, a), SYNCLINE_OK);
        ASSERT_EQ(rank.issue(1, b), SYNCLINE_OK);
        ASSERT_EQ(rank.wait(), SYNCLINE_OK);
        Told &own = told[rank.number];
        std::lock_guard lock(own.mutex);
        EXPECT_EQ(own.tickets, (std::vector<std::uint64_t>{1, 2}));
      },
      [&](syncline_group_options &options, int rank) {
        options.done_context = &told[rank];
        options.done = [](void *context, uint64_t ticket, const syncline_error *error) {
          EXPECT_EQ(error->code, SYNCLINE_OK) << error->text;
          auto &own = *static_cast<Told *>(context);
          std::lock_guard lock(own.mutex);
          own.tickets.push_back(ticket);
        };
      });
}

TEST(Group, RecordsTheLastSteps) {
  const PlanOfMessages plan(2, {{"ring", {10}}, {"tree", {20}}});
  onRanks(
      2, {plan.folder()},
      [](Rank &rank) {
        ASSERT_TRUE(rank.group) << rank.error.text;
        for (int step = 0; step < 5; ++step) {
          std::vector<float> a(10), b(20);
          if (step > 0) {
            ASSERT_EQ(syncline_step(rank.group, &rank.error), SYNCLINE_OK);
          }
          ASSERT_EQ(rank.issue(0, a), SYNCLINE_OK);
          ASSERT_EQ(rank.issue(1, b), SYNCLINE_OK);
          ASSERT_EQ(rank.wait(), SYNCLINE_OK);
        }
        syncline_message_time times[8];
        std::int64_t count = 0;
        ASSERT_EQ(syncline_group_trace(rank.group, times, 8, &count, &rank.error), SYNCLINE_OK);
        ASSERT_EQ(count, 4);
        EXPECT_EQ(times[0].step, 3);
        EXPECT_EQ(times[3].step, 4);
        EXPECT_EQ(times[3].message, 1);
        EXPECT_EQ(times[3].bytes, 80);
        EXPECT_STREQ(times[3].scheme, "tree");
        EXPECT_EQ(times[3].ticket, 10u);
        EXPECT_LE(times[3].issued, times[3].started);
        EXPECT_LE(times[3].started, times[3].finished);
        EXPECT_LE(times[1].finished, times[2].issued);
        ASSERT_EQ(syncline_group_trace(rank.group, times, 1, &count, &rank.error), SYNCLINE_OK);
        EXPECT_EQ(count, 4);
        EXPECT_EQ(times[0].ticket, 10u);
      },
      [](syncline_group_options &options, int) { options.traced_steps = 2; });
}

/// Two groups of one process, with other plans, at the same time; their plans are closed early.
TEST(Group, StandsBesideAnother) {
  const PlanOfMessages plan(2, {{"ring", {10}}}), other(2, {{"tree", {30}}});
  MemoryStore memory;
  const syncline_store store = memory.callbacks();
  onRanks(2, {plan.folder()}, [&](Rank &rank) {
    ASSERT_TRUE(rank.group) << rank.error.text;
    Rank second;
    syncline_group_options options{};
    options.size = sizeof options;
    options.rank = rank.number;
    options.ranks = 2;
    options.store = &store;
    options.name = "second";
    ASSERT_EQ(syncline_plan_open(other.folder().c_str(), &second.plan, &second.error), SYNCLINE_OK);
    ASSERT_EQ(syncline_group_join(second.plan, &options, &second.group, &second.error), SYNCLINE_OK)
        << second.error.text;
    syncline_plan_close(second.plan);
    std::vector<float> a = parts(rank.number, 10), b = parts(rank.number, 30);
    ASSERT_EQ(rank.number == 0 ? rank.issue(0, a) : second.issue(0, b), SYNCLINE_OK);
    ASSERT_EQ(rank.number == 0 ? second.issue(0, b) : rank.issue(0, a), SYNCLINE_OK);
    ASSERT_EQ(rank.wait(), SYNCLINE_OK) << rank.error.text;
    ASSERT_EQ(second.wait(), SYNCLINE_OK) << second.error.text;
    expectSum(a, 2);
    expectSum(b, 2);
    EXPECT_EQ(syncline_group_close(second.group, 20, &second.error), SYNCLINE_OK)
        << second.error.text;
  });
}

} // namespace
} // namespace syncline::testing
