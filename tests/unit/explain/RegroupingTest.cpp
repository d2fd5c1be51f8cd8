// What other members of a bucket cost, against figures worked out by hand and a clock of its own.
#include "passes/explain/Regrouping.h"

#include "passes/proof/OrderChecker.h"
#include "passes/proof/SolutionChecker.h"
#include "passes/solver/Planner.h"
#include "passes/solver/Replay.h"
#include "tests/unit/explain/RandomOrders.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace syncline::explain {

using namespace problem;
using namespace solver;

namespace {

/// A ring of 1 s a message and 1 s a byte; four gradients, of which the last one is late.
Problem lateProblem() {
  Problem problem;
  problem.mergeClasses = {
      {.options = {{.scheme = Scheme::ring, .cost = std::make_shared<AffineCost>(1, 1)}}}};
  const std::pair<std::int64_t, double> layers[] = {{2, 1}, {3, 2}, {4, 3}, {1, 10}};
  for (auto [bytes, ready] : layers)
    problem.layers.push_back({.bytes = bytes, .ready = ready, .mergeClasses = 1});
  problem.computeFree = 10;
  return problem;
}

/// Groups end before these layers.
Solution planOf(const Problem &problem, std::vector<std::size_t> ends) {
  return replay(problem, choicesOfGroups(problem, 0, ends));
}

const Regrouping &by(const Grouping &grouping, Move move) {
  const auto found = std::ranges::find(grouping.changes, move, &Regrouping::move);
  EXPECT_NE(found, grouping.changes.end());
  return *found;
}

bool has(const Grouping &grouping, Move move) {
  return std::ranges::find(grouping.changes, move, &Regrouping::move) != grouping.changes.end();
}

/// When the last message ends, by messages alone.
double endByHand(const Problem &problem, const Solution &plan) {
  double free = 0;
  for (const Message &message : plan.messages) {
    double ready = 0;
    std::int64_t bytes = 0;
    for (std::size_t k : message.layers) {
      ready = std::max(ready, problem.layers[k].ready);
      bytes += problem.layers[k].bytes;
    }
    free = std::max(free, ready) +
           (message.isFactors
                ? factorOptionOf(problem, message)->seconds
                : problem.mergeClasses[message.mergeClass].options[message.option].cost->seconds(
                      bytes));
  }
  return free;
}

} // namespace

// {0, 1} from 2 to 8, {2} from 8 to 13, {3} from 13 to 15.
TEST(Regrouping, OfTheFirstBucket) {
  const Problem problem = lateProblem();
  const Solution plan = planOf(problem, {2, 3, 4});
  const Grouping grouping = *groupingOf(problem, plan, 1);
  EXPECT_EQ(grouping.message, 0u);
  EXPECT_EQ(grouping.bytes, 5);
  EXPECT_EQ(grouping.finish, 15);
  EXPECT_EQ(grouping.exposed, 5);
  EXPECT_FALSE(has(grouping, Move::mergeBefore));
  EXPECT_FALSE(has(grouping, Move::joinBehind)); // that is merging: its bucket has one member

  // {0, 1, 2} from 3 to 13: a latency less, and a second later.
  const Regrouping &merged = by(grouping, Move::mergeBehind);
  EXPECT_EQ(merged.finish, 15);
  EXPECT_EQ(merged.busy, -1);
  EXPECT_EQ(merged.idle, 1);
  EXPECT_EQ(merged.added, -1);
  EXPECT_EQ(merged.latency, 1);
  EXPECT_EQ(merged.bytes, 9);
  EXPECT_EQ(merged.waiting, 1u);
  EXPECT_EQ(merged.awaited, 2u);
  EXPECT_EQ(merged.awaitedReady, 3);

  // {0} from 1 to 4, {1, 2} from 4 to 12, {3} from 12 to 14.
  const Regrouping &left = by(grouping, Move::leaveBehind);
  EXPECT_EQ(left.layer, 1u);
  EXPECT_EQ(left.finish, 14);
  EXPECT_EQ(left.exposed, 4);
  EXPECT_EQ(left.busy, 0);
  EXPECT_EQ(left.idle, -1);
  EXPECT_EQ(left.added, 0);

  // {0} from 1 to 4, {1} from 4 to 8.
  const Regrouping &split = by(grouping, Move::split);
  EXPECT_EQ(grouping.splits, 1u);
  EXPECT_EQ(split.layer, 1u);
  EXPECT_EQ(split.finish, 15);
  EXPECT_EQ(split.busy, 1);
  EXPECT_EQ(split.idle, -1);
  EXPECT_FALSE(has(grouping, Move::firstAlone));

  // Three messages of which the first starts at 1 take 13 s: {0}, {1, 2}, {3}.
  EXPECT_EQ(grouping.bestCuts, 14);
}

// With gradient 3 in its message, gradient 2 would wait for it from 3 to 10.
TEST(Regrouping, OfALateGradient) {
  const Problem problem = lateProblem();
  const Grouping grouping = *groupingOf(problem, planOf(problem, {2, 3, 4}), 3);
  EXPECT_EQ(grouping.changes.size(), 1u);
  const Regrouping &merged = by(grouping, Move::mergeBefore);
  EXPECT_EQ(merged.finish, 16);
  EXPECT_EQ(merged.exposed, 6);
  EXPECT_EQ(merged.busy, -1);
  EXPECT_EQ(merged.idle, 2);
  EXPECT_EQ(merged.waiting, 2u);
  EXPECT_EQ(merged.awaited, 3u);
}

// {0, 1, 2} from 3 to 13. Its two cuts leave the first or the last one alone, so none is a split.
TEST(Regrouping, OfABucketOfThree) {
  const Problem problem = lateProblem();
  const Grouping grouping = *groupingOf(problem, planOf(problem, {3, 4}), 0);
  EXPECT_EQ(by(grouping, Move::firstAlone).finish, 14);
  EXPECT_EQ(by(grouping, Move::lastAlone).finish, 15);
  EXPECT_EQ(by(grouping, Move::allAlone).finish, 15);
  EXPECT_EQ(by(grouping, Move::allAlone).added, 2);
  EXPECT_FALSE(has(grouping, Move::split));
}

// One cut of four members leaves none alone.
TEST(Regrouping, KeepsTheBestSplit) {
  const Problem problem = lateProblem();
  const Grouping grouping = *groupingOf(problem, planOf(problem, {4}), 0);
  EXPECT_EQ(grouping.splits, 1u);
  EXPECT_EQ(by(grouping, Move::split).layer, 2u);
  EXPECT_EQ(by(grouping, Move::split).finish, 16); // {2, 3} from 10 to 16
  EXPECT_EQ(by(grouping, Move::lastAlone).finish, 15);
}

TEST(Regrouping, KeepsToTheLargestMessage) {
  Problem problem = lateProblem();
  problem.mergeClasses[0].largestMessage = 8;
  const Grouping grouping = *groupingOf(problem, planOf(problem, {2, 3, 4}), 0);
  EXPECT_FALSE(by(grouping, Move::mergeBehind).plan);
  EXPECT_EQ(by(grouping, Move::mergeBehind).bytes, 9);
  EXPECT_TRUE(by(grouping, Move::leaveBehind).plan);
}

// A message that hides costs nothing.
TEST(Regrouping, HidesBehindComputation) {
  Problem problem = lateProblem();
  problem.computeFree = 100;
  const Grouping grouping = *groupingOf(problem, planOf(problem, {2, 3, 4}), 3);
  EXPECT_EQ(grouping.exposed, 0);
  EXPECT_EQ(by(grouping, Move::mergeBefore).finish, 100);
}

TEST(Regrouping, FactorsAreNotMerged) {
  Problem problem = lateProblem();
  problem.layers[0].factorOptions = {{.seconds = 1}};
  const Choice choices[] = {{Choice::Kind::factors, 0},
                            {Choice::Kind::bucket, 0},
                            {Choice::Kind::bucket, 0},
                            {Choice::Kind::bucket, 0}};
  const Solution plan = replay(problem, choices);
  EXPECT_FALSE(groupingOf(problem, plan, 0));
  EXPECT_FALSE(groupingOf(problem, plan, 1)->bestCuts);
}

// On random problems the judge accepts every change, another clock times it alike, and no change is
// better than the best cuts.
TEST(Regrouping, OfRandomPlansIsJudgedAndTimedAlike) {
  std::size_t changes = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Problem problem = randomSmallProblem(seed, 9, 1 << 20);
    for (const char *name : {"optimal", "single", "wfbp"}) {
      const Result<PlanResult> planned = (*parsePlanner(name))->plan(problem);
      if (!planned)
        continue; // some layer may not travel in the first merge class
      for (std::size_t k = 0; k < problem.layers.size(); ++k) {
        const std::optional<Grouping> grouping = groupingOf(problem, planned->plan, k);
        if (!grouping)
          continue;
        for (const Regrouping &change : grouping->changes) {
          if (!change.plan)
            continue;
          ++changes;
          const std::optional<proof::Rejection> rejection =
              proof::checkSolution(problem, *change.plan);
          ASSERT_FALSE(rejection) << rejection->message;
          const double end = endByHand(problem, *change.plan);
          EXPECT_DOUBLE_EQ(change.plan->communicationEnd, end);
          EXPECT_NEAR(change.busy + change.idle, end - planned->plan.communicationEnd, 1e-9 * end);
          EXPECT_GE(change.finish, std::max(end, problem.computeFree) * (1 - 1e-12));
          EXPECT_GE(change.exposed, -1e-9 * change.finish);
          if (grouping->bestCuts) {
            EXPECT_GE(change.finish, *grouping->bestCuts * (1 - 1e-9)) << seed;
          }
        }
      }
    }
  }
  EXPECT_GT(changes, 1000u);
}

// The judge of orders accepts every change of a random order.
TEST(Regrouping, OfRandomOrdersIsJudged) {
  std::size_t changes = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const RandomOrder order = randomOrder(seed);
    const Solution plan = messagesOf(order.problem, order.solution);
    for (std::size_t m = 0; m < plan.messages.size(); ++m) {
      const std::optional<Grouping> grouping = groupingInOrder(order.problem, plan, m);
      if (!grouping)
        continue;
      for (const Regrouping &change : grouping->changes) {
        if (!change.plan)
          continue;
        ++changes;
        const auto rejection = proof::checkMessages(order.problem, *change.plan);
        ASSERT_FALSE(rejection) << seed << ": " << rejection->message;
        EXPECT_DOUBLE_EQ(change.finish, change.plan->finish);
        EXPECT_GE(change.exposed, -1e-9 * change.finish);
        EXPECT_NEAR(change.busy + change.idle,
                    change.plan->communicationEnd - plan.communicationEnd, 1e-9 * plan.finish);
      }
    }
  }
  EXPECT_GT(changes, 100u);
}

} // namespace syncline::explain
