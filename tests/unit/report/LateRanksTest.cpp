// What late ranks cost an order of messages, in a plan whose times can be reckoned by hand.
#include "frontend/report/LateRanks.h"

#include "passes/simulate/IssueOrder.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

using namespace syncline;
using namespace syncline::report;
using simulate::Operation;
using simulate::Phase;
using simulate::Scenario;
using simulate::Simulation;
using Kind = Operation::Kind;

namespace {

/// Layers a and b, 1 s each forward and 2 s each backward. b's gradient travels in two messages of
/// 2 s. a's, of 1 s, is ready last, and its forward pass needs it first, so it travels between.
Scenario twoLayers(std::vector<double> slowdown = {}) {
  const auto message = [](const char *name, double seconds) {
    return simulate::Message{.name = name,
                             .bytes = 4,
                             .cost = std::make_shared<problem::AffineCost>(seconds, 0),
                             .isStated = true};
  };
  Scenario scenario;
  scenario.messages = {message("b1", 2), message("a", 1), message("b2", 2)};
  const auto wait = [](int which) {
    return Operation{.kind = Kind::wait, .phase = Phase::update, .message = which};
  };
  const auto issue = [](int which) {
    return Operation{.kind = Kind::issue, .phase = Phase::backward, .message = which};
  };
  scenario.operations = {wait(1),
                         {.layer = "a", .seconds = 1},
                         wait(0),
                         wait(2),
                         {.layer = "b", .seconds = 1},
                         {.phase = Phase::backward, .layer = "b", .seconds = 2},
                         issue(0),
                         {.phase = Phase::backward, .layer = "a", .seconds = 2},
                         issue(1),
                         issue(2)};
  scenario.machines = {.ranks = 2, .slowdown = std::move(slowdown)};
  scenario.warmUp = simulate::carriedWarmUp;
  scenario.steps = scenario.warmUp + 2;
  return scenario;
}

Scenario inReadyOrder(const Scenario &scenario) { return issuedAt(scenario, {2, 4, 2}); }

LateRanks compare(const Scenario &late) {
  Result<Simulation> simulation = simulate::runScenario(late);
  EXPECT_TRUE(simulation) << simulation.status().message();
  const Scenario calm = twoLayers();
  Result<LateRanks> found =
      compareLateRanks({late, inReadyOrder(late)}, *simulation, {calm, inReadyOrder(calm)});
  EXPECT_TRUE(found) << found.status().message();
  return *found;
}

} // namespace

// Without late ranks the channel has b1 from 2 to 4 s after the backward pass begins, a until 5, b2
// until 7, and the next forward pass ends at 8. In ready order a comes last, from 6 to 7, and the
// pass ends at 9. With a rank that computes 1.5 times as long, b1 ends at 5, a at 7 and b2 at 9.
// Its forward pass then ends at 10.5, in ready order (a at 8) at 11.
TEST(LateRanksTest, ComparesBothOrdersWithAndWithoutLateRanks) {
  const LateRanks late = compare(twoLayers({1, 1.5}));
  EXPECT_NEAR(late.calmStep, 8, 1e-9);
  EXPECT_NEAR(late.calmReadyStep, 9, 1e-9);
  EXPECT_NEAR(late.step, 10.5, 1e-9);
  EXPECT_NEAR(late.readyStep, 11, 1e-9);
  EXPECT_NEAR(late.calmGain(), 1, 1e-9);
  EXPECT_NEAR(late.gain(), 0.5, 1e-9);
}

// Each rank waits 1 s for a, from 4 to 5, and 1 s for b2. Beside the slow rank the other one begins
// its backward pass half a second earlier in the steady state. It waits from 3.5 to 7 for a and
// from 8 to 9 for b2; the slow one waits 1 s for a and 0.5 s for b2. The means are 2.25 and 0.75 s.
TEST(LateRanksTest, SaysForWhichMessagesRanksWaitLonger) {
  Scenario scenario = twoLayers({1, 1.5});
  const LateRanks late = compare(scenario);
  EXPECT_NEAR(late.calmWaiting, 2, 1e-9);
  ASSERT_EQ(late.waits.size(), 1u);
  EXPECT_EQ(late.waits[0].name, "a");
  EXPECT_NEAR(late.waits[0].more, 1.25, 1e-9);
  EXPECT_NEAR(late.waiting, 3, 1e-9);
}

TEST(LateRanksTest, SaysItInWords) {
  LateRanks late{.step = 10.5,
                 .calmStep = 8,
                 .readyStep = 10,
                 .calmReadyStep = 9,
                 .waiting = 3,
                 .calmWaiting = 2,
                 .waits = {{"a", 1.25}, {"c", 0.5}}};
  EXPECT_EQ(lateRanksText(late),
            "late ranks: step 8.000 s -> 10.50 s (+31.25 %); a rank waits 2.00 s -> 3.00 s a step "
            "for messages, on average\n"
            "it waits longer for a (+1.25 s), c (+500 ms)\n"
            "messages travel in the plan's order: one that is late on a rank holds up those behind "
            "it. Sent as their\ngradients become ready, the same messages would take 9.000 s -> "
            "10.00 s: the plan's order saves 1.00 s a step without late ranks and costs 500 ms "
            "with them\n");
  EXPECT_EQ(lateRanksJson(late)["longer_waits"][1]["name"], "c");
  late.waits.clear();
  EXPECT_EQ(lateRanksText(late).find("longer"), std::string::npos);
}

// The order of issue is all that changes, and jitter meets the same operations.
TEST(LateRanksTest, JitterIsTheSameInBothOrders) {
  Scenario late = twoLayers();
  late.jitter = 0.2;
  const Scenario ready = inReadyOrder(late);
  const Result<Simulation> one = simulate::runScenario(late), other = simulate::runScenario(ready);
  ASSERT_TRUE(one && other);
  const auto seconds = [](const Simulation &simulation, const Scenario &scenario, int rank) {
    std::vector<double> found;
    for (std::size_t i = 0; i < scenario.operations.size(); ++i)
      if (scenario.operations[i].kind == Kind::compute) {
        const simulate::Span &span = simulation.operation(2, rank, i);
        found.push_back(span.end - span.start);
      }
    return found;
  };
  for (int rank : {0, 1}) {
    const std::vector<double> here = seconds(*one, late, rank),
                              there = seconds(*other, ready, rank);
    ASSERT_EQ(here.size(), there.size());
    for (std::size_t i = 0; i < here.size(); ++i)
      EXPECT_NEAR(here[i], there[i], 1e-9);
  }
  EXPECT_NE(seconds(*one, late, 0), seconds(*one, late, 1));
}

// Issued when it was, each message is issued where it was.
TEST(LateRanksTest, IssueTimesGiveTheOrderBack) {
  const Scenario scenario = twoLayers();
  const std::vector<double> times = issueTimes(scenario, 3);
  EXPECT_EQ(times, (std::vector<double>{2, 4, 4}));
  const Scenario again = issuedAt(scenario, times);
  ASSERT_EQ(again.operations.size(), scenario.operations.size());
  for (std::size_t i = 0; i < again.operations.size(); ++i) {
    EXPECT_EQ(again.operations[i].kind, scenario.operations[i].kind) << i;
    EXPECT_EQ(again.operations[i].message, scenario.operations[i].message) << i;
  }
}
