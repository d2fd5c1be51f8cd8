// Scheme costs against Poseidon's published table and by hand.
#include "passes/solver/joint/SchemeCost.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace syncline::solver {
namespace {

/// As many digits as the table prints.
std::string printed(const char *format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

constexpr FactorShape fc6{25088, 4096, 32}, fc7{4096, 4096, 32}, fc8{4096, 1000, 32};
constexpr FactorShape fc8Of22k{4096, 21841, 32}, googLeNet{1024, 1000, 128}, resNet{2048, 1000, 32};

double serverElements(const FactorShape &shape, int ranks) {
  ServerLayout layout;
  layout.workers = layout.servers = ranks;
  return parameterServerTraffic(layout) * static_cast<double>(shape.inputs * shape.outputs) / 1e6;
}

double factorElements(const FactorShape &shape, int ranks) {
  double bytes = allGatherTraffic(ranks) * static_cast<double>(shape.factorBytes());
  return bytes / shape.elementBytes / 1e6;
}

TEST(PoseidonRule, CrossesOverWhereTheTableSays) {
  EXPECT_EQ(printed("%.0f", poseidonCrossover(fc6)), "220");
  EXPECT_EQ(printed("%.0f", poseidonCrossover(fc7)), "128");
  EXPECT_EQ(printed("%.0f", poseidonCrossover(fc8)), "50");
  EXPECT_EQ(printed("%.0f", poseidonCrossover(fc8Of22k)), "216");
  EXPECT_EQ(printed("%.1f", poseidonCrossover(googLeNet)), "7.9");
  EXPECT_EQ(printed("%.0f", poseidonCrossover(resNet)), "42");
  EXPECT_EQ(printed("%.0f", poseidonCrossover({9216, 4096, 256})), "22");
  EXPECT_EQ(printed("%.0f", poseidonCrossover({4096, 4096, 256})), "16");
  EXPECT_EQ(printed("%.1f", poseidonCrossover({4096, 1000, 256})), "6.3");
}

TEST(PoseidonRule, ChangesItsMindAtTheCrossover) {
  EXPECT_TRUE(poseidonPrefersFactors(googLeNet, 7, 7));
  EXPECT_FALSE(poseidonPrefersFactors(googLeNet, 8, 8));
  for (const FactorShape &shape : {fc6, fc7, fc8})
    for (int ranks : {8, 16, 32})
      EXPECT_TRUE(poseidonPrefersFactors(shape, ranks, ranks));
  EXPECT_FALSE(poseidonPrefersFactors(fc8, 51, 51));
}

TEST(Traffic, OfALayerIsTheTables) {
  struct Row {
    FactorShape shape;
    const char *format;
    const char *servers8, *factors8, *servers16, *factors16;
    const char *serverFormat;
  };
  const Row rows[] = {{fc6, "%.1f", "359.7", "13.1", "385.4", "28.0", "%.1f"},
                      {fc7, "%.2f", "58.7", "3.67", "62.9", "7.86", "%.1f"},
                      {fc8, "%.2f", "14.3", "2.28", "15.4", "4.89", "%.1f"},
                      {fc8Of22k, "%.1f", "313.1", "11.6", "335.5", "24.9", "%.1f"},
                      {googLeNet, "%.2f", "3.58", "3.63", "3.84", "7.77", "%.2f"},
                      {resNet, "%.2f", "7.17", "1.37", "7.68", "2.93", "%.2f"}};
  for (const Row &row : rows) {
    EXPECT_EQ(printed(row.serverFormat, serverElements(row.shape, 8)), row.servers8);
    EXPECT_EQ(printed(row.serverFormat, serverElements(row.shape, 16)), row.servers16);
    EXPECT_EQ(printed(row.format, factorElements(row.shape, 8)), row.factors8);
    EXPECT_EQ(printed(row.format, factorElements(row.shape, 16)), row.factors16);
  }
}

LinkRates rates(double alpha, double beta, double gamma) { return {alpha, beta, gamma}; }

TEST(ParameterServerCost, ColocatedMovesWhatARingMoves) {
  ServerLayout layout{4, 4, false, rates(1, 2, 0), {}, Duplex::full, 0};
  EXPECT_DOUBLE_EQ(parameterServerCost(layout)->seconds(0), 2);
  EXPECT_DOUBLE_EQ(parameterServerCost(layout)->seconds(100), 2 + 2 * 0.75 * 100 * 2);
  layout.duplex = Duplex::half;
  EXPECT_DOUBLE_EQ(parameterServerCost(layout)->seconds(100), 2 + 4 * 0.75 * 100 * 2);
  layout.worker = rates(0, 0, 8); // each server sums the other three's quarters
  EXPECT_DOUBLE_EQ(parameterServerCost(layout)->seconds(100), 8 * 75);
}

TEST(ParameterServerCost, FewDedicatedServersAreTheBottleneck) {
  ServerLayout layout{4, 2, true, rates(0, 1, 0), rates(0, 1, 0), Duplex::full, 0};
  EXPECT_DOUBLE_EQ(parameterServerCost(layout)->seconds(100), 2 * 200);
  layout.server.secondsPerByte = 0.25; // faster links than the workers'
  EXPECT_DOUBLE_EQ(parameterServerCost(layout)->seconds(100), 2 * 100);
}

/// Beyond the first piece, pulls run beside pushes: dedicated servers then beat any all-reduce.
TEST(ParameterServerCost, OverlapsPieces) {
  ServerLayout layout{4, 4, true, rates(0, 1, 0), rates(0, 1, 0), Duplex::full, 10};
  auto cost = parameterServerCost(layout);
  EXPECT_DOUBLE_EQ(cost->seconds(10), 20);
  EXPECT_DOUBLE_EQ(cost->seconds(100), 110);
  EXPECT_LT(cost->seconds(100), formulaCost(Scheme::ring, 4, layout.worker).seconds(100));
  layout.dedicated = false; // a node that is both has no idle direction
  EXPECT_DOUBLE_EQ(parameterServerCost(layout)->seconds(100), 150);
}

TEST(SchemeCost, ReduceScatterAndAllGatherCostARing) {
  LinkRates link = rates(1, 2, 3);
  EXPECT_DOUBLE_EQ(reduceScatterCost(4, link).seconds(100),
                   formulaCost(Scheme::ring, 4, link).seconds(100));
  EXPECT_EQ(reduceScatterCost(1, link).seconds(100), 0);
}

TEST(SchemeCost, FactorsGrowWithRanksAndSamples) {
  FactorShape shape{10, 20, 3};
  EXPECT_EQ(shape.bytes(), 800);
  Factors factors = factorsOf(shape, 100);
  EXPECT_EQ(factors.bytes, 3 * 30 * 4);
  EXPECT_DOUBLE_EQ(factors.rebuild, 2.0 * 3 * 200 / 100);
  EXPECT_DOUBLE_EQ(allGatherCost(5, rates(1, 2, 0)).seconds(factors.bytes),
                   4 * (1 + 3 * 30 * 4 * 2.0));
  EXPECT_EQ(allGatherCost(1, rates(1, 2, 0)).seconds(factors.bytes), 0);
}

TEST(SchemeCost, HierarchicalSharesANodesCards) {
  NodeLayout layout{2, 4, 1, rates(0, 1, 0), rates(1, 10, 0)};
  HierarchicalCost cost = hierarchicalCost(layout);
  EXPECT_DOUBLE_EQ(cost.scatter.seconds(100), 75);
  EXPECT_DOUBLE_EQ(cost.exchange.seconds(100), 2 + 10 * 100);
  EXPECT_DOUBLE_EQ(cost.total().seconds(100), 75 + 1002 + 75);
  layout.linksPerNode = 4;
  EXPECT_DOUBLE_EQ(hierarchicalCost(layout).exchange.seconds(100), 2 + 10 * 25);
}

} // namespace
} // namespace syncline::solver
