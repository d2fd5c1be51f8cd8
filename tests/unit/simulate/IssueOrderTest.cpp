// From a problem's decisions to operations in issue order.
#include "passes/simulate/IssueOrder.h"

#include "passes/simulate/ClipByNorm.h"

#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::simulate;
using problem::Problem;
using problem::Solution;
using Kind = Operation::Kind;

namespace {

/// Gradients a (reconstructed from factors, with its piggyback b) and c, d in a bucket.
Problem smallProblem() {
  Problem problem;
  auto cost = std::make_shared<problem::AffineCost>(1, 0);
  problem.mergeClasses = {
      {.options = {{.scheme = Scheme::ring, .cost = cost, .traffic = 3},
                   {.scheme = Scheme::reduceScatter, .cost = cost, .traffic = 3}}}};
  const problem::FactorOption factors{
      .seconds = 1, .reconstruct = 0.25, .traffic = 12, .factorBytes = 6};
  problem.layers = {{.bytes = 100, .ready = 2, .mergeClasses = 1, .factorOptions = {factors}},
                    {.bytes = 20, .ready = 2, .mergeClasses = 1, .carrier = 0},
                    {.bytes = 40, .ready = 3, .mergeClasses = 1},
                    {.bytes = 60, .ready = 5, .mergeClasses = 1}};
  problem.computeFree = 6;
  return problem;
}

Solution plan(std::size_t option) {
  Solution plan;
  plan.messages = {{.layers = {0}, .isFactors = true}, {.layers = {2, 3}, .option = option}};
  plan.piggybacks = {1};
  return plan;
}

const std::vector<std::string> names = {"a", "b", "c", "d"};

std::string text(const std::vector<Operation> &operations) {
  std::string result;
  for (const Operation &op : operations) {
    const char *kinds[] = {"compute ", "issue ", "wait ", "update ", "square "};
    result += kinds[static_cast<int>(op.kind)] +
              (op.kind == Kind::compute ? op.layer : std::to_string(op.message)) + "; ";
  }
  return result;
}

} // namespace

TEST(IssueOrderTest, TheBackwardPassIsCutAtReadyTimes) {
  const std::vector<Operation> operations = operationsOf(smallProblem(), 1, names);
  EXPECT_EQ(text(operations),
            "compute forward; compute a; compute c; compute d; compute backward; ");
  EXPECT_DOUBLE_EQ(operations[3].seconds, 2);
  EXPECT_EQ(operations[0].phase, Phase::forward);
  EXPECT_EQ(operations[1].phase, Phase::backward);
}

// A message waits for those before it on its channel only, as in a program.
TEST(IssueOrderTest, ChannelsIssueByThemselves) {
  Solution order = plan(0);
  std::swap(order.messages[0], order.messages[1]); // what is ready at 5 s, then at 2 s
  for (int channels : {1, 2}) {
    order.takeTurns(channels);
    EXPECT_EQ(order.channels(), channels);
    const Scenario scenario =
        issueMessages(operationsOf(smallProblem(), 1, names), smallProblem(), order, names, {2.2});
    const std::string issued =
        channels == 1 ? "compute forward; compute a; compute c; compute d; issue 0; issue 1; "
                      : "compute forward; compute a; issue 1; compute c; compute d; issue 0; ";
    EXPECT_TRUE(text(scenario.operations).starts_with(issued)) << text(scenario.operations);
    EXPECT_EQ(scenario.messages[1].channel, channels - 1);
  }
}

TEST(IssueOrderTest, MessagesLeaveWhenReadyAndAreReconstructedAndUpdatedInOrder) {
  const Scenario scenario =
      issueMessages(operationsOf(smallProblem(), 1, names), smallProblem(), plan(0), names, {2.2});
  EXPECT_EQ(text(scenario.operations),
            "compute forward; compute a; issue 0; compute c; compute d; issue 1; compute backward; "
            "wait 0; compute a .. b (2); update 0; wait 1; update 1; ");
  EXPECT_EQ(scenario.messages[0].bytes, 6); // one rank's factors
  EXPECT_EQ(scenario.messages[0].scheme, Scheme::factors);
  EXPECT_EQ(scenario.messages[1].bytes, 100);
  EXPECT_EQ(scenario.messages[1].name, "c .. d (2)");
  EXPECT_DOUBLE_EQ(scenario.operations[8].seconds, 0.25);
  EXPECT_DOUBLE_EQ(scenario.operations[9].seconds, 1.2); // by 120 of 220 bytes
  EXPECT_DOUBLE_EQ(scenario.operations[11].seconds, 1);
}

// In an order the forward pass waits where it reads. A gradient that is cut is updated in parts.
TEST(IssueOrderTest, OrdersAreReceivedInTheForwardPass) {
  Solution order = plan(0);
  order.messages = {order.messages.front(), {.layers = {3}, .cutBehind = 45}, {.layers = {3, 2}}};
  order.messages[2].cutBefore = 15;
  const std::vector<double> reading = {0.75, 1, 0.5, 0};
  const Scenario scenario = issueMessages(operationsOf(smallProblem(), 1, names, reading),
                                          smallProblem(), order, names, {2.2}, reading);
  EXPECT_EQ(text(scenario.operations),
            "wait 1; update 1; wait 2; update 2; compute d; compute c; wait 0; "
            "compute a .. b (2); update 0; compute a; compute a; issue 0; compute c; compute d; "
            "issue 1; issue 2; compute backward; ");
  EXPECT_EQ(scenario.messages[1].bytes, 15);
  EXPECT_EQ(scenario.messages[2].bytes, 85);
  EXPECT_DOUBLE_EQ(scenario.operations[1].seconds, 0.15); // of 2.2 s for 220 bytes
  EXPECT_DOUBLE_EQ(scenario.operations[3].seconds, 0.85);
  EXPECT_DOUBLE_EQ(scenario.operations[4].seconds, 0.5);
  EXPECT_DOUBLE_EQ(scenario.operations[5].seconds, 0.25);
  EXPECT_DOUBLE_EQ(scenario.operations[9].seconds, 0.25);
}

// Second halves are messages behind all others, issued at their places; a wait is for both halves.
TEST(IssueOrderTest, HalvesAreIssuedAtTheirPlaces) {
  Solution order;
  order.messages = {{.layers = {2}, .option = 1}, {.layers = {3}, .option = 1}};
  order.messages[0].gather = {.place = 3};
  order.messages[1].gather = {.place = 2};
  const std::vector<double> reading = {0.75, 1, 0.5, 0};
  const Scenario scenario = issueMessages(operationsOf(smallProblem(), 1, names, reading),
                                          smallProblem(), order, names, {2.2}, reading);
  EXPECT_EQ(text(scenario.operations),
            "wait 1; wait 3; compute d; wait 0; wait 2; compute c; compute a; compute a; compute "
            "c; issue 0; compute d; issue 1; issue 3; issue 2; compute backward; ");
  ASSERT_EQ(scenario.messages.size(), 4u);
  EXPECT_EQ(scenario.messages[0].half, Half::first);
  EXPECT_EQ(scenario.messages[3].half, Half::second);
  EXPECT_EQ(scenario.messages[3].firstHalf, 1);
  EXPECT_EQ(scenario.messages[3].bytes, 60);
}

// What a rank would compute of its own samples moves behind the message with the others' shares.
TEST(IssueOrderTest, OwnSharesOfFactorsMoveBehindTheirMessage) {
  Scenario scenario =
      issueMessages(operationsOf(smallProblem(), 1, names), smallProblem(), plan(0), names, {2.2});
  const Scenario before = scenario;
  moveOwnShares(scenario, smallProblem(), plan(0), 3);
  EXPECT_DOUBLE_EQ(before.operations[8].seconds, 0.25); // of two other ranks
  EXPECT_DOUBLE_EQ(scenario.operations[8].seconds, 0.375);
  EXPECT_DOUBLE_EQ(scenario.operations[1].seconds, before.operations[1].seconds - 0.125);
  for (std::size_t i : {0u, 3u, 4u, 6u, 10u, 11u})
    EXPECT_EQ(scenario.operations[i].seconds, before.operations[i].seconds) << i;
}

// A piggyback's own sum moves too, and no time is lost or won.
TEST(IssueOrderTest, OwnSharesOfPiggybacksMoveFromWhereTheyAreMade) {
  Problem problem = smallProblem();
  problem.layers[0].factorOptions[0].reconstruct = 2.2;
  problem.layers[1].ready = 2.25;
  Scenario scenario =
      issueMessages(operationsOf(problem, 1, names), problem, plan(0), names, {2.2});
  const Scenario before = scenario;
  moveOwnShares(scenario, problem, plan(0), 3);
  const auto &[a, b] = std::pair{scenario.operations[1], scenario.operations[3]};
  EXPECT_EQ(a.layer + b.layer, "ab");
  EXPECT_DOUBLE_EQ(a.seconds, 0);
  EXPECT_DOUBLE_EQ(b.seconds, 0.15);
  EXPECT_DOUBLE_EQ(scenario.operations[9].seconds, before.operations[9].seconds + 1.1);
}

// A program's updates cost more than their bytes where they are many and small.
TEST(IssueOrderTest, UpdatesAreSharedOutByWeight) {
  const Scenario scenario = issueMessages(operationsOf(smallProblem(), 1, names), smallProblem(),
                                          plan(0), names, {2.0, {1, 2, 4, 1}});
  EXPECT_DOUBLE_EQ(scenario.operations[9].seconds, 0.75); // of a and b
  EXPECT_DOUBLE_EQ(scenario.operations[11].seconds, 1.25);
}

TEST(IssueOrderTest, AReduceScatterHasNoUpdate) {
  const Scenario scenario =
      issueMessages(operationsOf(smallProblem(), 1, names), smallProblem(), plan(1), names, {2.2});
  EXPECT_EQ(scenario.operations.back().kind, Kind::wait);
  EXPECT_DOUBLE_EQ(scenario.operations[9].seconds, 2.2);
}

// A rank adds up squares where it would update, and updates once it has all of them.
TEST(IssueOrderTest, ClippedUpdatesFollowTheLastMessage) {
  Scenario scenario =
      issueMessages(operationsOf(smallProblem(), 1, names), smallProblem(), plan(0), names, {2.2});
  const Scenario before = scenario;
  clipByNorm(scenario, 0.2);
  EXPECT_EQ(text(scenario.operations),
            "compute forward; compute a; issue 0; compute c; compute d; issue 1; compute backward; "
            "wait 0; compute a .. b (2); square 0; wait 1; square 1; update 0; update 1; ");
  EXPECT_DOUBLE_EQ(scenario.operations[9].seconds, 0.2 * before.operations[9].seconds);
  EXPECT_DOUBLE_EQ(scenario.operations[12].seconds, before.operations[9].seconds);
  EXPECT_DOUBLE_EQ(scenario.operations[13].seconds, before.operations[11].seconds);
}

// A rank updates its parts once all ranks' squares are known, and then parameters travel.
TEST(IssueOrderTest, ClippedPartsAreGatheredBehindTheNorm) {
  Scenario scenario =
      issueMessages(operationsOf(smallProblem(), 1, names), smallProblem(), plan(1), names, {2.2});
  const std::string before = text(scenario.operations);
  ASSERT_TRUE(before.ends_with("wait 0; compute a .. b (2); update 0; wait 1; ")) << before;
  scenario.messages[1].shardUpdate = 0.5;
  const auto bytes = static_cast<double>(scenario.messages[1].bytes);
  clipByNorm(scenario, 0.2, Scheme::tree);
  EXPECT_TRUE(text(scenario.operations)
                  .ends_with("square 0; wait 1; issue 2; wait 2; update 1; issue 3; wait 3; "
                             "update 0; "))
      << text(scenario.operations);
  EXPECT_EQ(scenario.norm, 2);
  EXPECT_EQ(scenario.messages[2].scheme, Scheme::tree);
  EXPECT_EQ(scenario.messages[2].bytes, 8);
  EXPECT_EQ(scenario.messages[1].half, Half::first);
  EXPECT_DOUBLE_EQ(scenario.messages[1].shardUpdate, 0.1);
  EXPECT_EQ(scenario.messages[3].firstHalf, 1);
  EXPECT_DOUBLE_EQ(scenario.operations[scenario.operations.size() - 4].seconds, 0.5 * bytes);
}

TEST(IssueOrderTest, TheLossTravelsFromTheStepsBeginningToItsEnd) {
  Scenario scenario =
      issueMessages(operationsOf(smallProblem(), 1, names), smallProblem(), plan(0), names, {2.2});
  const std::string before = text(scenario.operations);
  addLoss(scenario, Scheme::ring);
  EXPECT_EQ(scenario.loss, 2);
  EXPECT_EQ(scenario.messages.back().bytes, 32);
  EXPECT_EQ(text(scenario.operations), "issue 2; " + before + "wait 2; ");
}

// The runtime opens one more scheme only where none of channel 0's can sum the workers' losses.
TEST(IssueOrderTest, TheLossIsSummedByTheFirstAllReduceOfChannel0) {
  auto schemeOf = [](std::vector<Message> messages, bool hasDedicatedServers) {
    Scenario scenario;
    scenario.messages = std::move(messages);
    return lossScheme(scenario, hasDedicatedServers);
  };
  const Message factors{.scheme = Scheme::factors}, sharded{.scheme = Scheme::reduceScatter},
      elsewhere{.scheme = Scheme::tree, .channel = 1}, servers{.scheme = Scheme::parameterServer},
      doubling{.scheme = Scheme::recursiveDoubling};
  EXPECT_EQ(schemeOf({}, false), Scheme::ring);
  EXPECT_EQ(schemeOf({factors, sharded, elsewhere}, false), Scheme::ring);
  EXPECT_EQ(schemeOf({factors, servers, doubling}, false), Scheme::parameterServer);
  EXPECT_EQ(schemeOf({factors, servers, doubling}, true), Scheme::recursiveDoubling);
}
