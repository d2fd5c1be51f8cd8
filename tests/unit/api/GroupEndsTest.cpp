// Groups that end early: ranks that differ, come late or leave.
#include "tests/unit/api/PlanOfMessages.h"
#include "tests/unit/api/Ranks.h"

#include <array>
#include <chrono>
#include <cmath>
#include <gtest/gtest.h>
#include <thread>

namespace syncline::testing {
namespace {

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

Change lostAfter(double seconds) {
  return [seconds](syncline_group_options &options, int) { options.lost_seconds = seconds; };
}

TEST(GroupEnds, NamesTheRankWithAnotherPlanOnAllRanks) {
  const PlanOfMessages plan(3, {{}}), other(3, {{"tree", {1000}}});
  std::array<std::string, 3> texts;
  onRanks(3, {plan.folder(), other.folder(), plan.folder()}, [&](Rank &rank) {
    EXPECT_FALSE(rank.group);
    EXPECT_EQ(rank.error.code, SYNCLINE_PEER_LOST);
    EXPECT_EQ(rank.error.rank, -1);
    texts[static_cast<std::size_t>(rank.number)] = rank.error.text;
  });
  for (int r = 0; r < 3; ++r) {
    EXPECT_PRED2(has, texts[static_cast<std::size_t>(r)],
                 "group 'syncline': rank " + std::to_string(r) +
                     ": the ranks differ in their plan: ");
    EXPECT_PRED2(has, texts[static_cast<std::size_t>(r)], "rank 1 '");
    EXPECT_PRED2(has, texts[static_cast<std::size_t>(r)], "ranks 0, 2 '");
  }
}

TEST(GroupEnds, NamesTheRankThatDidNotCome) {
  const PlanOfMessages plan(2, {{}});
  onRanks(
      2, {plan.folder()},
      [&](Rank &rank) {
        EXPECT_FALSE(rank.group);
        EXPECT_EQ(rank.error.code, rank.number == 0 ? SYNCLINE_PEER_LOST : SYNCLINE_BAD_USAGE);
        if (rank.number == 0) {
          EXPECT_STREQ(rank.error.text, "group 'syncline': rank 0: no sign in time of rank 1");
        }
      },
      [](syncline_group_options &options, int rank) {
        options.start_seconds = 0.5;
        options.port = rank == 1 ? -1 : 0;
      });
}

/// Rank 1 lives, but does not issue the message; all others name it, the message and the step.
TEST(GroupEnds, NamesTheRankThatDoesNotIssue) {
  const PlanOfMessages plan(3, {{"ring", {10}}, {"ring", {20}}});
  onRanks(
      3, {plan.folder()},
      [](Rank &rank) {
        ASSERT_TRUE(rank.group) << rank.error.text;
        std::vector<float> first(10), second(20);
        ASSERT_EQ(rank.issue(0, first), SYNCLINE_OK);
        ASSERT_EQ(rank.wait(), SYNCLINE_OK);
        ASSERT_EQ(syncline_step(rank.group, nullptr), SYNCLINE_OK);
        ASSERT_EQ(rank.issue(0, first), SYNCLINE_OK);
        if (rank.number == 1) {
          while (syncline_group_check(rank.group, &rank.error) == SYNCLINE_OK)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
          EXPECT_EQ(rank.error.rank, 1);
          return;
        }
        const auto begin = std::chrono::steady_clock::now();
        ASSERT_EQ(rank.issue(1, second), SYNCLINE_OK);
        ASSERT_EQ(rank.wait(), SYNCLINE_PEER_LOST);
        EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
        EXPECT_EQ(rank.error.rank, 1);
        EXPECT_EQ(rank.error.message, 1);
        EXPECT_EQ(rank.error.step, 1);
        EXPECT_PRED2(has, rank.error.text,
                     "group 'syncline': rank " + std::to_string(rank.number) + ": lost rank 1 (");
        EXPECT_PRED2(has, rank.error.text,
                     "in the all-reduce of bucket 1 in step 1; last "
                     "completed step 0");
        EXPECT_EQ(rank.issue(0, first), SYNCLINE_PEER_LOST); // as all later calls
        EXPECT_EQ(syncline_step(rank.group, nullptr), SYNCLINE_PEER_LOST);
      },
      lostAfter(1));
}

/// The data are the caller's again when close() returns, and the others learn who left.
TEST(GroupEnds, ClosesInTheMiddle) {
  const PlanOfMessages plan(2, {{"ring", {100'000}}});
  onRanks(2, {plan.folder()}, [](Rank &rank) {
    ASSERT_TRUE(rank.group) << rank.error.text;
    if (rank.number == 0) {
      std::vector<float> values(100'000);
      ASSERT_EQ(rank.issue(0, values), SYNCLINE_OK);
      EXPECT_EQ(rank.wait(std::nan("")), SYNCLINE_BAD_USAGE);
      EXPECT_EQ(rank.wait(0.05), SYNCLINE_TIMED_OUT);
      EXPECT_STREQ(rank.error.text, "ticket 1 is still under way after 0.050000 s");
      EXPECT_EQ(rank.error.rank, -1);
      EXPECT_EQ(syncline_group_close(rank.group, 0.05, &rank.error), SYNCLINE_BAD_USAGE);
      EXPECT_EQ(rank.error.rank, 0);
      EXPECT_STREQ(rank.error.text,
                   "group 'syncline': rank 0 closed the group with bucket 0 under way in step 0");
      rank.group = nullptr;
      return;
    }
    while (syncline_group_check(rank.group, &rank.error) == SYNCLINE_OK)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(rank.error.rank, 0);
    EXPECT_PRED2(has, rank.error.text, "lost rank 0 (");
  });
}

/// Another thread ends a wait; both ranks learn why.
TEST(GroupEnds, Aborts) {
  const PlanOfMessages plan(2, {{"ring", {100'000}}});
  onRanks(2, {plan.folder()}, [](Rank &rank) {
    ASSERT_TRUE(rank.group) << rank.error.text;
    if (rank.number == 0) {
      std::vector<float> values(100'000);
      ASSERT_EQ(rank.issue(0, values), SYNCLINE_OK);
      std::thread other([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        EXPECT_EQ(syncline_group_abort(rank.group, "no memory", nullptr), SYNCLINE_OK);
      });
      EXPECT_EQ(rank.wait(), SYNCLINE_BAD_USAGE);
      EXPECT_EQ(rank.error.rank, 0);
      EXPECT_STREQ(rank.error.text, "group 'syncline': rank 0 aborted: no memory");
      other.join();
      return;
    }
    while (syncline_group_check(rank.group, &rank.error) == SYNCLINE_OK)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(rank.error.rank, 0);
    EXPECT_PRED2(has, rank.error.text,
                 "lost rank 0 (it failed: group 'syncline': rank 0 aborted: no memory)");
  });
}

TEST(GroupEnds, NamesRanksWithMessagesOfOtherLengths) {
  const PlanOfMessages plan(2, {{}});
  onRanks(2, {plan.folder()}, [](Rank &rank) {
    ASSERT_TRUE(rank.group) << rank.error.text;
    std::vector<float> values(100);
    ASSERT_EQ(syncline_all_reduce(rank.group, values.data(), rank.number == 0 ? 100 : 50,
                                  SYNCLINE_F32, SYNCLINE_SUM, &rank.ticket, &rank.error),
              SYNCLINE_OK);
    const int code = rank.wait();
    EXPECT_TRUE(code == SYNCLINE_BAD_INPUT || code == SYNCLINE_PEER_LOST) << code;
    // Whose own part failed knows the reason, and the other names it.
    EXPECT_EQ(rank.error.rank, code == SYNCLINE_BAD_INPUT ? -1 : 1 - rank.number);
    EXPECT_EQ(rank.error.message, -1);
    EXPECT_PRED2(has, rank.error.text, "sent a message of ");
    EXPECT_PRED2(has, rank.error.text, "a message outside of the plan in step 0");
  });
}

/// Bytes are equal, but not what they are for.
TEST(GroupEnds, NamesRanksThatDifferInOperationOrType) {
  const PlanOfMessages plan(2, {{}});
  struct Reduction {
    int type, operation;
    std::int64_t count;
    const char *text;
  };
  const Reduction usual{SYNCLINE_F32, SYNCLINE_SUM, 100, "a sum of 'f32'"};
  for (const Reduction &other : {Reduction{SYNCLINE_F32, SYNCLINE_MEAN, 100, "a mean of 'f32'"},
                                 Reduction{SYNCLINE_I32, SYNCLINE_SUM, 100, "a sum of 'i32'"},
                                 Reduction{SYNCLINE_F64, SYNCLINE_MEAN, 50, "a mean of 'f64'"}})
    onRanks(2, {plan.folder()}, [&](Rank &rank) {
      ASSERT_TRUE(rank.group) << rank.error.text;
      const Reduction &own = rank.number == 0 ? usual : other;
      std::vector<double> values(50);
      ASSERT_EQ(syncline_all_reduce(rank.group, values.data(), own.count, own.type, own.operation,
                                    &rank.ticket, &rank.error),
                SYNCLINE_OK);
      const int code = rank.wait();
      EXPECT_TRUE(code == SYNCLINE_BAD_INPUT || code == SYNCLINE_PEER_LOST) << code;
      EXPECT_EQ(rank.error.message, -1);
      EXPECT_PRED2(has, rank.error.text, "sent a message for ");
      EXPECT_PRED2(has, rank.error.text, other.text);
      EXPECT_PRED2(has, rank.error.text, usual.text);
    });
}

/// So it is for messages of the plan, by every scheme that sums and on a wire of 16 bits.
TEST(GroupEnds, NamesRanksThatSumWhatOthersAverage) {
  for (const char *scheme :
       {"ring", "recursive-doubling", "halving-doubling", "tree", "parameter-server"}) {
    PlanOfMessages plan(3, {{scheme, {1000}}});
    plan.json["wire"] = "bf16";
    plan.seal();
    onRanks(3, {plan.folder()}, [&](Rank &rank) {
      ASSERT_TRUE(rank.group) << rank.error.text;
      std::vector<float> values(1000);
      int code = rank.issue(0, values, rank.number == 1 ? SYNCLINE_MEAN : SYNCLINE_SUM);
      if (code == SYNCLINE_OK) // else the others have met already
        code = rank.wait();
      EXPECT_NE(code, SYNCLINE_OK) << scheme;
      EXPECT_PRED2(has, rank.error.text, "sent a message for a ") << scheme;
      EXPECT_PRED2(has, rank.error.text, "a mean of 'f32'") << scheme;
    });
  }
}

/// A message is issued again only after its end.
TEST(GroupEnds, RefusesAMessageThatIsUnderWay) {
  const PlanOfMessages plan(2, {{"ring", {100'000}}});
  onRanks(2, {plan.folder()}, [](Rank &rank) {
    ASSERT_TRUE(rank.group) << rank.error.text;
    std::vector<float> values(100'000);
    if (rank.number == 1) // comes late
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    ASSERT_EQ(rank.issue(0, values), SYNCLINE_OK);
    if (rank.number == 0) {
      ASSERT_EQ(syncline_step(rank.group, nullptr), SYNCLINE_OK);
      EXPECT_EQ(rank.issue(0, values), SYNCLINE_BAD_USAGE);
      EXPECT_STREQ(rank.error.text,
                   "message 0 is still under way: expected that its ticket has ended");
      EXPECT_EQ(rank.ticket, 1u);
    }
    EXPECT_EQ(rank.wait(), SYNCLINE_OK) << rank.error.text;
  });
}

} // namespace
} // namespace syncline::testing
