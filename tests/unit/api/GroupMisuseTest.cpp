// Calls that a group refuses, and goes on.
#include "tests/unit/api/PlanOfMessages.h"
#include "tests/unit/api/Ranks.h"

#include <cmath>
#include <gtest/gtest.h>

namespace syncline::testing {
namespace {

/// A group of one rank, in which each call stands alone.
void alone(const PlanOfMessages &plan, const std::function<void(Rank &)> &body) {
  onRanks(1, {plan.folder()}, [&](Rank &rank) {
    ASSERT_TRUE(rank.group) << rank.error.text;
    body(rank);
  });
}

TEST(GroupMisuse, RefusesOtherSizesAndTypes) {
  const PlanOfMessages plan(1, {{"ring", {10, 5}}});
  alone(plan, [](Rank &rank) {
    std::vector<float> few(14), right(15);
    EXPECT_EQ(rank.issue(0, few), SYNCLINE_BAD_USAGE);
    EXPECT_STREQ(rank.error.text, "message 0: expected 15 elements of 'f32', got 14 of 'f32'");
    std::vector<double> wide(15);
    EXPECT_EQ(syncline_issue(rank.group, 0, wide.data(), 15, SYNCLINE_F64, SYNCLINE_SUM,
                             &rank.ticket, &rank.error),
              SYNCLINE_BAD_USAGE);
    EXPECT_STREQ(rank.error.text, "message 0: expected 15 elements of 'f32', got 15 of 'f64'");
    EXPECT_EQ(rank.issue(0, right), SYNCLINE_OK) << rank.error.text;
  });
}

TEST(GroupMisuse, RefusesValuesThatHaveNoSum) {
  const PlanOfMessages plan(1, {{}});
  alone(plan, [](Rank &rank) {
    std::int32_t values[4] = {};
    const auto refusal = [&](void *data, std::int64_t count, int type, int operation) {
      EXPECT_EQ(
          syncline_all_reduce(rank.group, data, count, type, operation, &rank.ticket, &rank.error),
          SYNCLINE_BAD_USAGE);
      return std::string(rank.error.text);
    };
    EXPECT_EQ(refusal(values, 4, SYNCLINE_I32, SYNCLINE_MEAN),
              "no mean over ranks for element type 'i32'");
    EXPECT_EQ(refusal(values, 4, 6, SYNCLINE_SUM), "expected a syncline_type, got 6");
    EXPECT_EQ(refusal(values, 4, SYNCLINE_F32, 2), "expected a syncline_operation, got 2");
    EXPECT_EQ(refusal(nullptr, 4, SYNCLINE_F32, SYNCLINE_SUM),
              "expected the address of data, got NULL");
    EXPECT_EQ(refusal(reinterpret_cast<char *>(values) + 1, 3, SYNCLINE_F32, SYNCLINE_SUM),
              "expected data aligned to elements of 'f32'");
    EXPECT_EQ(refusal(values, -1, SYNCLINE_F32, SYNCLINE_SUM),
              "expected a count from 0 to 4398046511104, got -1");
    EXPECT_EQ(syncline_all_reduce(rank.group, nullptr, 0, SYNCLINE_F32, SYNCLINE_SUM, &rank.ticket,
                                  &rank.error),
              SYNCLINE_OK);
    EXPECT_EQ(syncline_all_reduce(nullptr, values, 4, SYNCLINE_F32, SYNCLINE_SUM, &rank.ticket,
                                  &rank.error),
              SYNCLINE_BAD_USAGE);
    EXPECT_STREQ(rank.error.text, "expected a group, got NULL");
  });
}

TEST(GroupMisuse, RefusesAnotherOrder) {
  const PlanOfMessages plan(1, {{"ring", {1}}, {"ring", {1}}});
  alone(plan, [](Rank &rank) {
    std::vector<float> value(1);
    ASSERT_EQ(rank.issue(1, value), SYNCLINE_OK);
    ASSERT_EQ(rank.wait(), SYNCLINE_OK);
    EXPECT_EQ(rank.issue(0, value), SYNCLINE_BAD_USAGE);
    EXPECT_STREQ(rank.error.text, "message 0 was issued after message 1 in step 0: expected the "
                                  "plan's order, each message once");
    ASSERT_EQ(syncline_step(rank.group, nullptr), SYNCLINE_OK);
    EXPECT_EQ(rank.issue(0, value), SYNCLINE_OK) << rank.error.text;
    EXPECT_EQ(rank.issue(2, value), SYNCLINE_BAD_USAGE);
    EXPECT_STREQ(rank.error.text, "expected a message from 0 to 1, got 2");
  });
}

TEST(GroupMisuse, RefusesMessagesThatAreNoSums) {
  const PlanOfMessages plan(1, {{"factors", {1}}, {"reduce-scatter", {1}}, {"library", {1}}});
  alone(plan, [](Rank &rank) {
    std::vector<float> value(1);
    EXPECT_EQ(rank.issue(0, value), SYNCLINE_BAD_USAGE);
    EXPECT_STREQ(rank.error.text,
                 "message 0 travels by 'factors': the scheme gathers what gradients are computed "
                 "from, not gradients; expected syncline_all_reduce() for it");
    EXPECT_EQ(rank.issue(1, value), SYNCLINE_BAD_USAGE);
    EXPECT_STREQ(rank.error.text,
                 "message 1 travels by 'reduce-scatter': the scheme updates parameters between "
                 "its halves; expected syncline_all_reduce() for it");
    EXPECT_EQ(rank.issue(2, value), SYNCLINE_BAD_USAGE);
    EXPECT_STREQ(rank.error.text, "message 2 travels by 'library': only NCCL has the scheme; "
                                  "expected syncline_all_reduce() for it");
  });
}

/// Its count of elements would leave out the rest.
TEST(GroupMisuse, RefusesMessagesOfPartsOfElements) {
  PlanOfMessages plan(1, {{"ring", {10}}, {"ring", {10}}});
  plan.json["layers"][0]["bytes"] = plan.json["buckets"][0]["bytes"] = 42;
  plan.seal();
  alone(plan, [](Rank &rank) {
    std::vector<float> values(10);
    syncline_message_info info{};
    info.size = sizeof info;
    ASSERT_EQ(syncline_plan_message(rank.plan, 0, &info, nullptr), SYNCLINE_OK);
    EXPECT_EQ(info.is_carried, 0);
    EXPECT_EQ(rank.issue(0, values), SYNCLINE_BAD_USAGE);
    EXPECT_STREQ(rank.error.text, "message 0 travels by 'ring': its bytes are no whole number of "
                                  "elements; expected syncline_all_reduce() for it");
    EXPECT_EQ(rank.issue(1, values), SYNCLINE_OK) << rank.error.text;
  });
}

/// A mistake of the caller's arithmetic; the group stays open.
TEST(GroupMisuse, RefusesSecondsThatAreNoNumber) {
  const PlanOfMessages plan(1, {{}});
  alone(plan, [](Rank &rank) {
    EXPECT_EQ(syncline_group_close(rank.group, std::nan(""), &rank.error), SYNCLINE_BAD_USAGE);
    EXPECT_STREQ(rank.error.text, "expected seconds, got nan");
    std::vector<float> values(1000);
    ASSERT_EQ(rank.issue(0, values), SYNCLINE_OK) << rank.error.text;
    EXPECT_EQ(rank.wait(std::nan("")), SYNCLINE_BAD_USAGE);
    EXPECT_STREQ(rank.error.text, "expected seconds, got nan");
    EXPECT_EQ(rank.wait(), SYNCLINE_OK) << rank.error.text;
  });
}

/// A thread that calls `done` must go on, and would wait for what it carries out itself.
TEST(GroupMisuse, RefusesToWaitInDone) {
  struct Calls {
    syncline_group *group = nullptr;
    std::string wait, close;
  };
  const PlanOfMessages plan(1, {{}});
  Calls calls;
  const auto done = [](void *context, std::uint64_t ticket, const syncline_error *) {
    auto &seen = *static_cast<Calls *>(context);
    syncline_error error;
    EXPECT_EQ(syncline_wait(seen.group, ticket, 0, nullptr), SYNCLINE_TIMED_OUT);
    EXPECT_EQ(syncline_wait(seen.group, ticket, 5, &error), SYNCLINE_BAD_USAGE);
    seen.wait = error.text;
    EXPECT_EQ(syncline_group_close(seen.group, 0, &error), SYNCLINE_BAD_USAGE);
    seen.close = error.text;
  };
  onRanks(
      1, {plan.folder()},
      [&](Rank &rank) {
        ASSERT_TRUE(rank.group) << rank.error.text;
        calls.group = rank.group;
        std::vector<float> values(1000);
        ASSERT_EQ(rank.issue(0, values), SYNCLINE_OK);
        EXPECT_EQ(rank.wait(), SYNCLINE_OK) << rank.error.text;
      },
      [&](syncline_group_options &options, int) {
        options.done = done;
        options.done_context = &calls;
      });
  EXPECT_EQ(calls.wait,
            "syncline_wait() in 'done' would wait for itself: expected it on another thread");
  EXPECT_EQ(calls.close, "syncline_group_close() in 'done' would wait for itself: expected it on "
                         "another thread");
}

TEST(GroupMisuse, RefusesWhatIsClosedOrNull) {
  const PlanOfMessages plan(1, {{}});
  alone(plan, [](Rank &rank) {
    syncline_group *const group = rank.group;
    syncline_error error;
    const auto refusal = [&](int code) {
      EXPECT_EQ(code, SYNCLINE_BAD_USAGE);
      return std::string(error.text);
    };
    syncline_message_time times[1];
    std::int64_t count = 0;
    EXPECT_EQ(refusal(syncline_group_trace(group, times, 1, nullptr, &error)),
              "expected a place for the count, got NULL");
    EXPECT_EQ(refusal(syncline_group_trace(group, nullptr, 1, &count, &error)),
              "expected room for 1 times, got NULL");
    EXPECT_EQ(refusal(syncline_group_trace(group, times, -1, &count, &error)),
              "expected a capacity from 0 on, got -1");
    EXPECT_EQ(refusal(syncline_group_abort(group, nullptr, &error)), "expected a reason, got NULL");
    float value = 0;
    EXPECT_EQ(
        refusal(syncline_issue(group, 0, &value, 1, SYNCLINE_F32, SYNCLINE_SUM, nullptr, &error)),
        "expected a place for the ticket, got NULL");
    ASSERT_EQ(syncline_group_close(group, 1, nullptr), SYNCLINE_OK);
    rank.group = nullptr;
    const std::string closed = "expected a group that was joined, got one that is closed";
    EXPECT_EQ(refusal(syncline_group_close(group, 1, &error)), closed);
    EXPECT_EQ(refusal(syncline_issue(group, 0, &value, 1, SYNCLINE_F32, SYNCLINE_SUM, &rank.ticket,
                                     &error)),
              closed);
    EXPECT_EQ(refusal(syncline_all_reduce(group, &value, 1, SYNCLINE_F32, SYNCLINE_SUM,
                                          &rank.ticket, &error)),
              closed);
    EXPECT_EQ(refusal(syncline_wait(group, 1, 0, &error)), closed);
    EXPECT_EQ(refusal(syncline_step(group, &error)), closed);
    EXPECT_EQ(refusal(syncline_group_check(group, &error)), closed);
    EXPECT_EQ(refusal(syncline_group_abort(group, "why", &error)), closed);
    EXPECT_EQ(refusal(syncline_group_trace(group, times, 1, &count, &error)), closed);
    EXPECT_EQ(refusal(syncline_group_close(nullptr, 1, &error)), "expected a group, got NULL");
    EXPECT_EQ(refusal(syncline_group_join(rank.plan, nullptr, &rank.group, &error)),
              "expected options of a group, got NULL");
  });
}

TEST(GroupMisuse, RefusesTicketsThatItDidNotGive) {
  const PlanOfMessages plan(1, {{}});
  alone(plan, [](Rank &rank) {
    EXPECT_EQ(rank.wait(), SYNCLINE_BAD_USAGE);
    EXPECT_STREQ(rank.error.text, "expected a ticket of this group, got 0");
  });
}

/// The join's error for options that `change` makes.
std::string refusedJoin(const PlanOfMessages &plan, const Change &change) {
  std::string text;
  onRanks(
      1, {plan.folder()},
      [&](Rank &rank) {
        EXPECT_FALSE(rank.group);
        text = rank.error.text;
      },
      change);
  return text;
}

TEST(GroupMisuse, RefusesOptionsOutOfRange) {
  const PlanOfMessages plan(1, {{}});
  const auto refusal = [&](auto change) {
    return refusedJoin(plan, [&](syncline_group_options &options, int) { change(options); });
  };
  EXPECT_EQ(refusal([](auto &options) { options.size = 0; }),
            "options of a group: expected their size in 'size'");
  EXPECT_EQ(refusal([](auto &options) { options.ranks = 0; }),
            "option 'ranks': expected a number from 1 to 1048576, got 0");
  EXPECT_EQ(refusal([](auto &options) { options.rank = 1; }),
            "option 'rank': expected a number from 0 to 0, got 1");
  EXPECT_EQ(refusal([](auto &options) { options.ranks_per_node = -1; }),
            "option 'ranks_per_node': expected a number from 0 to 1048576, got -1");
  EXPECT_EQ(refusal([](auto &options) { options.port = 65536; }),
            "option 'port': expected a number from 0 to 65535, got 65536");
  EXPECT_EQ(refusal([](auto &options) { options.traced_steps = -1; }),
            "option 'traced_steps': expected a number from 0 to 1000000, got -1");
  EXPECT_EQ(refusal([](auto &options) { options.start_seconds = -1; }),
            "option 'start_seconds': expected seconds from 0 to 1000000, got -1.000000");
  EXPECT_EQ(refusal([](auto &options) { options.lost_seconds = 1e9; }),
            "option 'lost_seconds': expected seconds from 0 to 1000000, got 1000000000.000000");
  const std::string longName(129, 'a');
  EXPECT_EQ(refusal([&](auto &options) { options.name = longName.c_str(); }),
            "option 'name': expected at most 128 bytes, got 129");
  const syncline_store empty{};
  EXPECT_EQ(refusal([&](auto &options) { options.store = &empty; }),
            "option 'store': expected both functions, got NULL");
}

TEST(GroupMisuse, RefusesPlansThatNeedMore) {
  PlanOfMessages plan(2, {{}});
  const auto refusal = [&] { return refusedJoin(plan, {}); };
  const std::string begin = "group 'syncline': rank 0: '" + plan.folder() + "': ";
  EXPECT_EQ(refusal(), begin + "the plan is for 2 ranks, the group has 1");
  plan.json["ranks"] = 1;
  plan.json["servers"] = 1;
  plan.seal();
  EXPECT_EQ(refusal(),
            begin + "the plan has dedicated servers, which groups do not have: expected none");
  plan.json["servers"] = 0;
  plan.json["consistency"] = {{"form", "ssp"}, {"text", "ssp:4"}};
  plan.seal();
  EXPECT_EQ(refusal(), begin + "by consistency 'ssp:4' weights travel to a centre, which groups do "
                               "not have: expected 'bsp', 'local' or 'diloco'");
}

} // namespace
} // namespace syncline::testing
