// The slow obvious judge: a simulated message takes what the solver's formula says it does.
#include "tests/unit/simulate/Scenes.h"

#include "passes/problem/SchemeCost.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::simulate;

namespace {

constexpr std::int64_t sizes[] = {0, 1, 4096, 1'000'000, 123'456'789};

void expectBoth(Scenario scenario, double seconds, double tolerance = 1e-9) {
  const std::string what = std::string(schemeName(scenario.messages[0].scheme)) + ", " +
                           std::to_string(scenario.machines.ranks) + " ranks, " +
                           std::to_string(scenario.messages[0].bytes) + " bytes";
  Result<Simulation> folded = runScenario(scenario);
  ASSERT_TRUE(folded) << folded.status().message();
  EXPECT_TRUE(folded->isFolded) << what;
  EXPECT_NEAR(folded->stepEnd(0), seconds, tolerance * seconds) << what << ", folded";
  Result<Simulation> all = runScenario(unfolded(scenario));
  ASSERT_TRUE(all) << all.status().message();
  EXPECT_FALSE(all->isFolded) << what;
  EXPECT_EQ(all->ranks, scenario.machines.ranks);
  EXPECT_NEAR(all->stepEnd(0), seconds, tolerance * seconds) << what << ", every rank";
}

} // namespace

TEST(MessageTimeTest, AllReducesTakeTheFormulasTime) {
  for (Scheme scheme :
       {Scheme::ring, Scheme::reduceScatter, Scheme::recursiveDoubling, Scheme::halvingDoubling})
    for (int ranks : {2, 4, 8, 16, 32})
      for (std::int64_t bytes : sizes)
        expectBoth(oneMessage(scheme, bytes, ranks),
                   problem::formulaLine(scheme, ranks, slowLink).seconds(bytes));
}

// The halves of a message take what the whole message takes. The first one sums and, by
// reduce-scatter, updates.
TEST(MessageTimeTest, HalvesTakeTheWholeTime) {
  for (Scheme scheme : {Scheme::reduceScatter, Scheme::ring, Scheme::halvingDoubling})
    for (int ranks : {2, scheme == Scheme::halvingDoubling ? 4 : 3, 8}) // of 3 some wait for others
      for (std::int64_t bytes : sizes) {
        Scenario scenario = oneMessage(scheme, bytes, ranks);
        scenario.messages[0].shardUpdate = scheme == Scheme::reduceScatter ? 1e-9 : 0;
        const double whole = endOf(scenario);
        scenario.messages[0].half = Half::first;
        const double first = endOf(scenario), firstOfAll = endOf(unfolded(scenario));
        scenario.messages[0].half = Half::second;
        const double second = endOf(scenario);
        EXPECT_NEAR(first + second, whole, 1e-9 * whole)
            << schemeName(scheme) << ", " << ranks << " ranks, " << bytes << " bytes";
        EXPECT_GE(first, second * (1 - 1e-9));
        if (scheme != Scheme::halvingDoubling) {
          EXPECT_NEAR(second, problem::allGatherCost(ranks, slowLink).seconds(bytes / ranks),
                      1e-6 * second + 1e-6);
        }
        EXPECT_NEAR(firstOfAll, first, 1e-9 * first);
        EXPECT_NEAR(endOf(unfolded(scenario)), second, 1e-9 * second);
      }
}

// Where a message takes its cost, halves take it in two parts, as their bytes are on the wire: a
// reduce-scatter gathers parameters, which travel whole.
TEST(MessageTimeTest, HalvesOfACost) {
  for (Scheme scheme : {Scheme::reduceScatter, Scheme::ring, Scheme::halvingDoubling}) {
    Message message{.scheme = scheme, .bytes = 3000, .wireShare = 0.5};
    message.cost = std::make_shared<problem::AffineCost>(3, 1e-3);
    EXPECT_EQ(message.costSeconds(), 6);
    message.half = Half::first;
    EXPECT_EQ(message.costSeconds(), scheme == Scheme::reduceScatter ? 2 : 3);
    message.half = Half::second;
    EXPECT_EQ(message.costSeconds(), scheme == Scheme::reduceScatter ? 4 : 3);
  }
}

TEST(MessageTimeTest, ARingTakesItWithAnyNumberOfRanks) {
  for (Scheme scheme : {Scheme::ring, Scheme::reduceScatter})
    for (int ranks : {3, 5, 6, 7, 12, 31})
      for (std::int64_t bytes : sizes)
        expectBoth(oneMessage(scheme, bytes, ranks),
                   problem::formulaLine(scheme, ranks, slowLink).seconds(bytes));
}

// The formulas take rounds to be in step; ranks that serve two others in fact drift behind.
TEST(MessageTimeTest, OthersWithOtherNumbersOfRanksComeNearTheFormulasTime) {
  for (Scheme scheme : {Scheme::recursiveDoubling, Scheme::halvingDoubling})
    for (int ranks : {3, 5, 6, 7, 12, 31}) {
      const double formula = problem::formulaLine(scheme, ranks, slowLink).seconds(1'000'000);
      const double simulated = endOf(oneMessage(scheme, 1'000'000, ranks));
      EXPECT_LE(simulated, 1.16 * formula) << ranks;
      EXPECT_GE(simulated, 0.8 * formula) << ranks;
    }
}

// On a wire of 16 bits a message takes what one of f32 takes over links of twice the bandwidth. A
// reduce-scatter gathers parameters of f32, so its halves are compared one by one.
TEST(MessageTimeTest, NarrowWiresAreFasterLinks) {
  for (Scheme scheme :
       {Scheme::ring, Scheme::reduceScatter, Scheme::recursiveDoubling, Scheme::halvingDoubling,
        Scheme::tree, Scheme::hierarchical, Scheme::parameterServer, Scheme::factors})
    for (int dedicated : {0, 2})
      for (std::int64_t bytes : {20'000, 3'000'000}) {
        Scenario narrow = oneMessage(scheme, bytes, 8);
        if (dedicated > 0 && scheme != Scheme::parameterServer)
          continue;
        narrow.machines.servers = dedicated;
        narrow.machines.dedicated = dedicated > 0;
        narrow.machines.serverLink = slowLink;
        if (scheme == Scheme::hierarchical) {
          narrow.machines.devicesPerNode = 2;
          narrow.machines.inside = problem::LinkRates{1e-4, 1e-7, 1e-8};
        }
        if (scheme == Scheme::reduceScatter)
          narrow.messages[0].half = Half::first;
        Scenario fast = narrow;
        narrow.messages[0].wireShare = 0.5;
        for (problem::LinkRates *link : {&*fast.machines.network, &fast.machines.serverLink,
                                         fast.machines.inside ? &*fast.machines.inside : nullptr})
          if (link)
            link->secondsPerByte /= 2;
        const double expected = endOf(fast);
        EXPECT_NEAR(endOf(narrow), expected, 1e-9 * expected) << schemeName(scheme);
        EXPECT_NEAR(endOf(unfolded(narrow)), endOf(unfolded(fast)), 1e-9 * expected)
            << schemeName(scheme);
      }
  Scenario second = oneMessage(Scheme::reduceScatter, 1'000'000, 8);
  second.messages[0].half = Half::second;
  const double whole = endOf(second);
  second.messages[0].wireShare = 0.5;
  EXPECT_EQ(endOf(second), whole);
  second.messages[0].scheme = Scheme::ring; // gathers gradients
  EXPECT_LT(endOf(second), 0.8 * whole);
}

TEST(MessageTimeTest, HalfDuplexHalvesWhatGoesBothWays) {
  problem::LinkRates half = slowLink;
  half.secondsPerByte *= 2;
  for (Scheme scheme : {Scheme::ring, Scheme::halvingDoubling}) {
    Scenario scenario = oneMessage(scheme, 1'000'000, 8);
    scenario.machines.halfDuplex = true;
    expectBoth(scenario, problem::formulaLine(scheme, 8, half).seconds(1'000'000));
  }
}

TEST(MessageTimeTest, FactorsTakeAnAllGathersTime) {
  for (int ranks : {2, 3, 8, 17})
    expectBoth(oneMessage(Scheme::factors, 5000, ranks),
               problem::allGatherCost(ranks, slowLink).seconds(5000));
}

TEST(MessageTimeTest, AServerBesideEveryRankTakesTheFormulasTime) {
  for (int ranks : {2, 3, 8, 16})
    for (std::int64_t bytes : sizes)
      expectBoth(
          oneMessage(Scheme::parameterServer, bytes, ranks),
          problem::parameterServerCost({.workers = ranks, .servers = ranks, .worker = slowLink})
              ->seconds(bytes));
}

// All workers push to a server at once: its incoming link is shared.
TEST(MessageTimeTest, FewServersBesideRanksSufferIncast) {
  for (int servers : {1, 2, 3}) {
    Scenario scenario = oneMessage(Scheme::parameterServer, 1'000'000, 8);
    scenario.machines.servers = servers;
    const double formula =
        problem::parameterServerCost({.workers = 8, .servers = servers, .worker = slowLink})
            ->seconds(1'000'000);
    // A server sends one message less than a worker, so it begins one latency earlier.
    EXPECT_LE(endOf(scenario), formula * (1 + 1e-9)) << servers;
    EXPECT_GE(endOf(scenario), formula - 1.001 * slowLink.latency) << servers;
  }
}

TEST(MessageTimeTest, DedicatedServersPullOnePieceWhileTheNextIsPushed) {
  const problem::LinkRates fast{1e-3, 4e-7, 1e-7};
  for (int servers : {1, 2, 4})
    for (int pieces : {1, 2, 7}) {
      const auto bytes = static_cast<std::int64_t>(pieces * servers * serverPieceBytes);
      Scenario scenario = oneMessage(Scheme::parameterServer, bytes, 4);
      scenario.machines.servers = servers;
      scenario.machines.dedicated = true;
      scenario.machines.serverLink = fast;
      expectBoth(scenario, problem::parameterServerCost({.workers = 4,
                                                         .servers = servers,
                                                         .dedicated = true,
                                                         .worker = slowLink,
                                                         .server = fast})
                               ->seconds(bytes));
    }
}

// Shares that no binary fraction is, and servers that decide the time.
TEST(MessageTimeTest, AnyNumberOfDedicatedServersTakesTheFormulasTime) {
  const problem::LinkRates slow{1e-3, 3e-6, 1e-7};
  for (auto [ranks, servers] : {std::pair{5, 3}, {7, 3}, {10, 7}, {4, 3}}) {
    const auto bytes = static_cast<std::int64_t>(4 * servers * serverPieceBytes);
    Scenario scenario = oneMessage(Scheme::parameterServer, bytes, ranks);
    scenario.machines.servers = servers;
    scenario.machines.dedicated = true;
    scenario.machines.serverLink = slow;
    expectBoth(scenario, problem::parameterServerCost({.workers = ranks,
                                                       .servers = servers,
                                                       .dedicated = true,
                                                       .worker = slowLink,
                                                       .server = slow})
                             ->seconds(bytes));
  }
}

TEST(MessageTimeTest, HierarchicalTakesTheSumOfItsStages) {
  for (int cards : {1, 2}) {
    Scenario scenario = oneMessage(Scheme::hierarchical, 1'000'000, 12);
    scenario.machines.devicesPerNode = 4;
    scenario.machines.cardsPerNode = cards;
    scenario.machines.inside = problem::LinkRates{1e-4, 1e-7, 5e-8};
    expectBoth(scenario, problem::hierarchicalCost({.nodes = 3,
                                                    .devicesPerNode = 4,
                                                    .linksPerNode = cards,
                                                    .inside = *scenario.machines.inside,
                                                    .between = slowLink})
                             .total()
                             .seconds(1'000'000));
  }
}

TEST(MessageTimeTest, DoublingInNodesOfSeveralDevicesSharesTheCards) {
  Scenario scenario = oneMessage(Scheme::recursiveDoubling, 1'000'000, 8);
  scenario.machines.devicesPerNode = 2;
  scenario.machines.network->reduceSecondsPerByte = 0;
  scenario.machines.inside = problem::LinkRates{0, 1e-9, 0};
  // One round inside, two between nodes in which both devices of a node send.
  const double between = slowLink.latency + 1e6 * 2 * slowLink.secondsPerByte;
  EXPECT_NEAR(endOf(scenario), 1e-3 + 2 * between, 1e-9);
}

TEST(MessageTimeTest, AStatedCostHoldsWhateverTheNetwork) {
  Scenario scenario = oneMessage(Scheme::ring, 1000, 4);
  scenario.messages[0].cost = std::make_shared<problem::AffineCost>(0.5, 1e-3);
  scenario.messages[0].isStated = true;
  expectBoth(scenario, 1.5);
}

// A message that scatters takes so many times what it takes alone.
TEST(MessageTimeTest, AFactorMultipliesTheTime) {
  for (Scheme scheme : {Scheme::ring, Scheme::tree, Scheme::halvingDoubling, Scheme::factors,
                        Scheme::reduceScatter, Scheme::parameterServer})
    for (std::int64_t bytes : {0, 4096, 1'000'000})
      for (double times : {0.5, 3.0}) {
        Scenario scenario = oneMessage(scheme, bytes, 4);
        const double alone = endOf(scenario), each = endOf(unfolded(scenario));
        scenario.messageScatter = {{times}};
        EXPECT_NEAR(endOf(scenario), times * alone, 1e-9 * alone) << schemeName(scheme) << bytes;
        EXPECT_NEAR(endOf(unfolded(scenario)), times * each, 1e-9 * each) << schemeName(scheme);
      }
}

// Each step has a factor of its own, and they begin again behind the last one.
TEST(MessageTimeTest, FactorsOfSteps) {
  Scenario scenario = oneMessage(Scheme::ring, 4096, 4);
  const double alone = endOf(scenario);
  scenario.steps = 4;
  scenario.messageScatter = {{0.5, 3, 1.25}};
  EXPECT_NEAR(endOf(scenario), 5.25 * alone, 1e-9);
  scenario.messages[0].cost = std::make_shared<problem::AffineCost>(2, 0);
  scenario.messages[0].isStated = true;
  EXPECT_NEAR(endOf(scenario), 10.5, 1e-9);
}

TEST(MessageTimeTest, RefusesFactorsThatCannotBe) {
  for (const std::vector<std::vector<double>> &bad :
       {std::vector<std::vector<double>>{{}}, {{1}, {1}}, {{1, 0}}, {{-1}}, {{1, 2e6}}, {{NAN}}}) {
    Scenario scenario = oneMessage(Scheme::ring, 1, 2);
    scenario.messageScatter = bad;
    const Result<Simulation> simulation = runScenario(scenario);
    ASSERT_FALSE(simulation);
    EXPECT_NE(simulation.status().message().find("factor"), std::string::npos);
  }
}

TEST(MessageTimeTest, OneRankAgreesWithItselfAtOnce) {
  for (Scheme scheme : allSchemes())
    if (scheme != Scheme::hierarchical && scheme != Scheme::library) {
      EXPECT_EQ(endOf(oneMessage(scheme, 1000, 1)), 0) << schemeName(scheme);
    }
}

TEST(MessageTimeTest, AReduceScatterUpdatesItsShardInTheMiddle) {
  Scenario scenario = oneMessage(Scheme::reduceScatter, 1'000'000, 4);
  scenario.messages[0].shardUpdate = 1e-6;
  expectBoth(scenario,
             1 + problem::formulaLine(Scheme::reduceScatter, 4, slowLink).seconds(1'000'000));
}
