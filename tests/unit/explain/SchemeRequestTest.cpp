// A gradient without a choice: what is left of the problem.
#include "passes/explain/SchemeRequest.h"

#include "Small.h"
#include "passes/solver/Solver.h"

#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::explain;
using namespace syncline::problem;
using namespace syncline::solver;

using Schemes = std::vector<Scheme>;

// In the order of the enum; what a layer cannot do is not there.
TEST(SchemeRequest, OfferedSchemes) {
  const Problem problem = smallProblem();
  EXPECT_EQ(offeredSchemes(problem, 0),
            (Schemes{Scheme::ring, Scheme::tree, Scheme::parameterServer, Scheme::factors}));
  EXPECT_EQ(offeredSchemes(problem, 1), offeredSchemes(problem, 0)); // a piggyback
  EXPECT_EQ(offeredSchemes(problem, 2),
            (Schemes{Scheme::ring, Scheme::tree, Scheme::parameterServer}));
}

// A bucket that is too small for the layer offers nothing.
TEST(SchemeRequest, CatalogHeedsTheLargestMessage) {
  Problem problem = smallProblem();
  problem.mergeClasses[0].largestMessage = 10;
  EXPECT_EQ(offeredSchemes(problem, 0), (Schemes{Scheme::factors}));
  EXPECT_FALSE(requestScheme(problem, 0, Scheme::ring));
}

// The best plan uses the requested scheme, and the problem stays a valid one.
TEST(SchemeRequest, RequestedSchemeIsChosen) {
  const Problem problem = smallProblem();
  for (std::size_t layer = 0; layer < 3; ++layer)
    for (Scheme scheme : offeredSchemes(problem, layer)) {
      std::optional<Problem> requested = requestScheme(problem, layer, scheme);
      ASSERT_TRUE(requested) << layer << schemeName(scheme);
      ASSERT_TRUE(validate(*requested)) << validate(*requested).message();
      const std::size_t sent = scheme == Scheme::factors ? 0 : layer; // a piggyback's carrier
      EXPECT_EQ(schemeIn(*requested, solve(*requested).plan, sent), scheme) << layer;
    }
}

// A gradient with a request may still be merged with others.
TEST(SchemeRequest, OthersMayJoin) {
  Problem problem = smallProblem();
  problem.layers[0].factorOptions.clear();
  problem.layers[1].carrier.reset();
  std::optional<Problem> requested = requestScheme(problem, 1, Scheme::parameterServer);
  ASSERT_TRUE(requested);
  // One message of 25 bytes: ready at 3, 3 + 12.5 seconds; anything in two takes longer.
  const Solution plan = solve(*requested).plan;
  EXPECT_EQ(plan.messages.size(), 1u);
  EXPECT_DOUBLE_EQ(plan.finish, 18.5);
}

// A request can only make plans later.
TEST(SchemeRequest, NeverBeatsTheFreeChoice) {
  const Problem problem = smallProblem();
  const double best = solve(problem).plan.finish;
  for (std::size_t layer = 0; layer < 3; ++layer)
    for (Scheme scheme : offeredSchemes(problem, layer))
      EXPECT_GE(solve(*requestScheme(problem, layer, scheme)).plan.finish, best * (1 - 1e-12));
}

// A piggyback that must not ride, and the carrier that must not carry.
TEST(SchemeRequest, WithoutItsCarrierAPiggybackNeedsAMessage) {
  const Problem problem = smallProblem();
  EXPECT_FALSE(requestScheme(problem, 1, Scheme::ring)->layers[1].carrier);
  EXPECT_FALSE(requestScheme(problem, 0, Scheme::ring)->layers[1].carrier);
  EXPECT_TRUE(requestScheme(problem, 0, Scheme::factors)->layers[1].carrier);
}

// A merge class that holds nothing else is used as it is.
TEST(SchemeRequest, UsesAMergeClassThatHasTheSchemeAlone) {
  Problem problem = smallProblem();
  problem.mergeClasses.push_back(
      {.options = {problem.mergeClasses[0].options[2]}, .capacity = 100});
  problem.mergeClasses[0].options.pop_back();
  for (Layer &layer : problem.layers)
    layer.mergeClasses = 3;
  std::optional<Problem> requested = requestScheme(problem, 2, Scheme::parameterServer);
  ASSERT_TRUE(requested);
  EXPECT_EQ(requested->mergeClasses.size(), 2u);
  EXPECT_EQ(requested->layers[2].mergeClasses, 2u);
}

TEST(SchemeRequest, NothingWhereThereIsNoMergeClassLeft) {
  Problem problem = smallProblem();
  problem.mergeClasses.push_back(problem.mergeClasses[0]);
  problem.mergeClasses.push_back(problem.mergeClasses[0]);
  EXPECT_FALSE(requestScheme(problem, 2, Scheme::ring));
  EXPECT_FALSE(requestScheme(problem, 2, Scheme::factors));
}

TEST(SchemeRequest, APiggybacksSchemeIsItsCarriers) {
  const Problem problem = smallProblem();
  const Solution plan = solve(problem).plan;
  ASSERT_EQ(plan.piggybacks, std::vector<std::size_t>{1});
  EXPECT_EQ(schemeIn(problem, plan, 1), Scheme::factors);
  EXPECT_EQ(schemeIn(problem, plan, 2), Scheme::ring);
}
