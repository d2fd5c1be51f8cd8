// What a scheme is said to move is what its busiest node moves, message by message.
#include "tests/unit/simulate/Scenes.h"

#include "passes/problem/SchemeCost.h"

#include <gtest/gtest.h>

#include <map>

using namespace syncline;
using namespace syncline::simulate;

namespace {

/// Bytes through the busiest place's links, both ways, per byte of the message.
double busiest(const Scenario &scenario, const std::string &kind) {
  Result<Simulation> simulation = runScenario(scenario);
  std::map<std::string, double> bytes;
  for (const ResourceUse &use : simulation->resources)
    if (use.place.starts_with(kind))
      bytes[use.place] += use.bytes;
  double most = 0;
  for (const auto &[place, moved] : bytes)
    most = std::max(most, moved);
  return most / static_cast<double>(scenario.messages.front().bytes);
}

} // namespace

TEST(TrafficTest, AllReducesMoveWhatTheFormulasSay) {
  for (Scheme scheme : {Scheme::ring, Scheme::recursiveDoubling, Scheme::halvingDoubling,
                        Scheme::tree, Scheme::reduceScatter})
    for (int ranks = 2; ranks <= 40; ++ranks)
      for (std::int64_t bytes : {20'000, 10'000'000})
        EXPECT_NEAR(busiest(unfolded(oneMessage(scheme, bytes, ranks)), "node"),
                    problem::formulaTraffic(scheme, ranks, bytes), 1e-6)
            << schemeName(scheme) << ", " << ranks << " ranks, " << bytes << " bytes";
}

TEST(TrafficTest, ServersMoveWhatTheFormulaSays) {
  for (int ranks : {2, 4, 5, 8})
    for (int servers = 1; servers <= ranks; ++servers)
      for (bool dedicated : {false, true}) {
        Scenario scenario = oneMessage(Scheme::parameterServer, 1'000'000, ranks);
        scenario.machines.servers = servers;
        scenario.machines.dedicated = dedicated;
        scenario.machines.serverLink = slowLink;
        EXPECT_NEAR(busiest(unfolded(scenario), "node"),
                    problem::parameterServerTraffic(
                        {.workers = ranks, .servers = servers, .dedicated = dedicated}),
                    1e-6)
            << servers << " servers, dedicated " << dedicated << ", of " << ranks;
      }
}

// A device moves what a rank of a ring moves; its node's cards less.
TEST(TrafficTest, HierarchicalMovesARingsBytes) {
  for (int devices : {2, 4})
    for (int nodes : {2, 3, 4}) {
      Scenario scenario = oneMessage(Scheme::hierarchical, 1'000'000, devices * nodes);
      scenario.machines.devicesPerNode = devices;
      scenario.machines.inside = slowLink;
      EXPECT_NEAR(busiest(unfolded(scenario), "rank"), problem::ringTraffic(devices * nodes), 1e-6)
          << nodes << " times " << devices;
    }
}

TEST(TrafficTest, FactorsMoveWhatTheFormulaSays) {
  for (int ranks : {2, 3, 8})
    EXPECT_NEAR(busiest(unfolded(oneMessage(Scheme::factors, 5000, ranks)), "node"),
                problem::allGatherTraffic(ranks), 1e-6);
}
