// A gradient without a choice: what is left of the problem.
#include "passes/explain/Forcing.h"

#include "Small.h"
#include "passes/solver/Solver.h"

#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::explain;
using namespace syncline::solver;

using Schemes = std::vector<Scheme>;

// In the order of the enum; what a layer cannot do is not there.
TEST(Forcing, OfferedSchemes) {
  const JointProblem problem = smallProblem();
  EXPECT_EQ(offeredSchemes(problem, 0),
            (Schemes{Scheme::ring, Scheme::tree, Scheme::parameterServer, Scheme::factors}));
  EXPECT_EQ(offeredSchemes(problem, 1), offeredSchemes(problem, 0)); // rides
  EXPECT_EQ(offeredSchemes(problem, 2),
            (Schemes{Scheme::ring, Scheme::tree, Scheme::parameterServer}));
}

// A bucket that is too small for the layer offers nothing.
TEST(Forcing, OfferHeedsTheLargestMessage) {
  JointProblem problem = smallProblem();
  problem.lanes[0].largestMessage = 10;
  EXPECT_EQ(offeredSchemes(problem, 0), (Schemes{Scheme::factors}));
  EXPECT_FALSE(forceScheme(problem, 0, Scheme::ring));
}

// Whatever is forced is what the best plan then does, and the problem stays a valid one.
TEST(Forcing, ForcedSchemeIsChosen) {
  const JointProblem problem = smallProblem();
  for (std::size_t layer = 0; layer < 3; ++layer)
    for (Scheme scheme : offeredSchemes(problem, layer)) {
      std::optional<JointProblem> forced = forceScheme(problem, layer, scheme);
      ASSERT_TRUE(forced) << layer << schemeName(scheme);
      ASSERT_TRUE(validate(*forced)) << validate(*forced).message();
      const std::size_t sent = scheme == Scheme::factors ? 0 : layer; // a rider's carrier
      EXPECT_EQ(schemeIn(*forced, solveJoint(*forced).plan, sent), scheme) << layer;
    }
}

// Forced gradients may still be merged: others may come along.
TEST(Forcing, OthersMayJoin) {
  JointProblem problem = smallProblem();
  problem.layers[0].solos.clear();
  problem.layers[1].carrier.reset();
  std::optional<JointProblem> forced = forceScheme(problem, 1, Scheme::parameterServer);
  ASSERT_TRUE(forced);
  // One message of 25 bytes: ready at 3, 3 + 12.5 seconds; anything in two takes longer.
  const JointPlan plan = solveJoint(*forced).plan;
  EXPECT_EQ(plan.messages.size(), 1u);
  EXPECT_DOUBLE_EQ(plan.finish, 18.5);
}

// Forcing can only make plans later.
TEST(Forcing, NeverBeatsTheFreeChoice) {
  const JointProblem problem = smallProblem();
  const double best = solveJoint(problem).plan.finish;
  for (std::size_t layer = 0; layer < 3; ++layer)
    for (Scheme scheme : offeredSchemes(problem, layer))
      EXPECT_GE(solveJoint(*forceScheme(problem, layer, scheme)).plan.finish, best * (1 - 1e-12));
}

// A rider that must not ride, and the carrier that must not carry.
TEST(Forcing, WithoutItsCarrierARiderNeedsAMessage) {
  const JointProblem problem = smallProblem();
  EXPECT_FALSE(forceScheme(problem, 1, Scheme::ring)->layers[1].carrier);
  EXPECT_FALSE(forceScheme(problem, 0, Scheme::ring)->layers[1].carrier);
  EXPECT_TRUE(forceScheme(problem, 0, Scheme::factors)->layers[1].carrier);
}

// A lane that holds nothing else is used as it is.
TEST(Forcing, UsesALaneThatHasTheSchemeAlone) {
  JointProblem problem = smallProblem();
  problem.lanes.push_back({{problem.lanes[0].options[2]}, unlimited, 100});
  problem.lanes[0].options.pop_back();
  for (JointLayer &layer : problem.layers)
    layer.lanes = 3;
  std::optional<JointProblem> forced = forceScheme(problem, 2, Scheme::parameterServer);
  ASSERT_TRUE(forced);
  EXPECT_EQ(forced->lanes.size(), 2u);
  EXPECT_EQ(forced->layers[2].lanes, 2u);
}

TEST(Forcing, NothingWhereThereIsNoLaneLeft) {
  JointProblem problem = smallProblem();
  problem.lanes.push_back(problem.lanes[0]);
  problem.lanes.push_back(problem.lanes[0]);
  EXPECT_FALSE(forceScheme(problem, 2, Scheme::ring));
  EXPECT_FALSE(forceScheme(problem, 2, Scheme::factors));
}

TEST(Forcing, ARidersSchemeIsItsCarriers) {
  const JointProblem problem = smallProblem();
  const JointPlan plan = solveJoint(problem).plan;
  ASSERT_EQ(plan.riders, std::vector<std::size_t>{1});
  EXPECT_EQ(schemeIn(problem, plan, 1), Scheme::factors);
  EXPECT_EQ(schemeIn(problem, plan, 2), Scheme::ring);
}
