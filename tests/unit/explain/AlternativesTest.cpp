// What the schemes that were not chosen would have meant, against figures worked out by hand.
#include "passes/explain/Alternatives.h"

#include "Small.h"
#include "passes/solver/Replay.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace syncline;
using namespace syncline::explain;
using namespace syncline::problem;
using namespace syncline::solver;

namespace {

const Alternative &by(const std::vector<Alternative> &alternatives, Scheme scheme) {
  return *std::ranges::find(alternatives, scheme, &Alternative::scheme);
}

constexpr Choice join{Choice::Kind::join, 0};
Choice closeBy(std::uint8_t option) { return {Choice::Kind::bucket, 0, option}; }
constexpr Choice factors{Choice::Kind::factors, 0}, piggyback{Choice::Kind::piggyback, 0};

} // namespace

// 'weight' goes by factors from 1 to 3, 'conv' by servers from 3 to 8; reconstruction from 3
// to 4.5.
TEST(Alternatives, OfALayerThatTravelsAlone) {
  const Problem problem = smallProblem();
  const Choice choices[] = {factors, piggyback, closeBy(2)};
  const Solution plan = replay(problem, choices);
  const std::vector<Alternative> all = alternativesOf(problem, plan, 0);
  ASSERT_EQ(all.size(), 4u);

  const Alternative &factors = by(all, Scheme::factors);
  EXPECT_TRUE(factors.isChosen);
  EXPECT_DOUBLE_EQ(factors.alone.channel, 2);
  EXPECT_DOUBLE_EQ(factors.alone.reconstruct, 1.5);
  EXPECT_DOUBLE_EQ(factors.alone.traffic, 12);
  EXPECT_DOUBLE_EQ(factors.alone.exists, 4.5);
  EXPECT_FALSE(factors.bucket);
  EXPECT_DOUBLE_EQ(*factors.finish, 8);

  // The bias must come along: 21 bytes, ready at 2.
  const Alternative &ring = by(all, Scheme::ring);
  EXPECT_FALSE(ring.isChosen);
  EXPECT_DOUBLE_EQ(ring.alone.channel, 22);
  EXPECT_DOUBLE_EQ(ring.alone.reconstruct, 0);
  EXPECT_DOUBLE_EQ(ring.alone.traffic, 63);
  EXPECT_DOUBLE_EQ(ring.alone.exists, 24);
  EXPECT_GT(*ring.finish, *factors.finish);

  // All else by the best: 'weight' and the others in one message of 25 bytes by servers.
  EXPECT_DOUBLE_EQ(*by(all, Scheme::parameterServer).finish, 18.5);
}

// 'bias' and 'conv' share a bucket by the ring, 2 + 1 + 5 .. ; 'weight' by factors until 3.
TEST(Alternatives, OfAMemberOfABucket) {
  const Problem problem = smallProblem();
  const Choice choices[] = {factors, join, closeBy(0)};
  const Solution plan = replay(problem, choices);
  const std::vector<Alternative> all = alternativesOf(problem, plan, 2);

  // Without 'conv', 'bias' goes alone from 3 to 5, then 'conv' by the tree: 0.5 + 8.
  const Alternative &tree = by(all, Scheme::tree);
  EXPECT_DOUBLE_EQ(tree.alone.channel, 8.5);
  EXPECT_DOUBLE_EQ(tree.alone.exists, 13.5);
  // The bucket of 5 bytes by the tree: 3 + 0.5 + 10.
  ASSERT_TRUE(tree.bucket);
  EXPECT_DOUBLE_EQ(tree.bucket->channel, 10.5);
  EXPECT_DOUBLE_EQ(tree.bucket->traffic, 20);
  EXPECT_DOUBLE_EQ(tree.bucket->exists, 13.5);

  const Alternative &ring = by(all, Scheme::ring);
  EXPECT_TRUE(ring.isChosen);
  EXPECT_DOUBLE_EQ(ring.bucket->exists, plan.messages[1].end);
}

// The plan's choice is never said to finish later than the plan does.
TEST(Alternatives, OfTheChosenSchemeFinishesNoLaterThanThePlan) {
  const Problem problem = smallProblem();
  const Choice choices[] = {closeBy(1), closeBy(1), closeBy(1)};
  const Solution plan = replay(problem, choices);
  const std::vector<Alternative> all = alternativesOf(problem, plan, 0);
  EXPECT_TRUE(by(all, Scheme::tree).isChosen);
  EXPECT_LE(*by(all, Scheme::tree).finish, plan.finish);
}

// A piggyback by factors: with its carrier. By anything else: a message of its own.
TEST(Alternatives, OfAPiggyback) {
  const Problem problem = smallProblem();
  const Choice choices[] = {factors, piggyback, closeBy(2)};
  const std::vector<Alternative> all = alternativesOf(problem, replay(problem, choices), 1);
  EXPECT_TRUE(by(all, Scheme::factors).isChosen);
  EXPECT_DOUBLE_EQ(by(all, Scheme::factors).alone.exists, 4.5);
  EXPECT_DOUBLE_EQ(by(all, Scheme::ring).alone.channel, 2);
  EXPECT_DOUBLE_EQ(by(all, Scheme::ring).alone.exists, 5);
}

// Communication that ends before the backward pass does not end the step.
TEST(Alternatives, FinishIsNotBeforeTheBackwardPass) {
  Problem problem = smallProblem();
  problem.computeFree = 1000;
  const Choice choices[] = {factors, piggyback, closeBy(2)};
  EXPECT_DOUBLE_EQ(finishOf(problem, replay(problem, choices)), 1001.5);
}
