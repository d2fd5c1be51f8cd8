// Scheme costs against Poseidon's published table and by hand.
#include "passes/problem/SchemeCost.h"

#include "tests/support/ProblemBuilder.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace syncline::problem {

namespace {

/// As many digits as the table prints.
std::string printed(const char *format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

constexpr FactorShape fc6{.inputs = 25088, .outputs = 4096, .samples = 32};
constexpr FactorShape fc7{.inputs = 4096, .outputs = 4096, .samples = 32};
constexpr FactorShape fc8{.inputs = 4096, .outputs = 1000, .samples = 32};
constexpr FactorShape fc8Of22k{.inputs = 4096, .outputs = 21841, .samples = 32};
constexpr FactorShape googLeNet{.inputs = 1024, .outputs = 1000, .samples = 128};
constexpr FactorShape resNet{.inputs = 2048, .outputs = 1000, .samples = 32};

double serverElements(const FactorShape &shape, int ranks) {
  ServerLayout layout;
  layout.workers = layout.servers = ranks;
  return parameterServerTraffic(layout) * static_cast<double>(shape.inputs * shape.outputs) / 1e6;
}

double factorElements(const FactorShape &shape, int ranks) {
  double bytes = allGatherTraffic(ranks) * static_cast<double>(shape.factorBytes());
  return bytes / shape.elementBytes / 1e6;
}

/// The ranks, not rounded, at which both move as much: what servers move is in proportion to
/// (P-1)/P, what factors do to P-1.
double crossover(const FactorShape &shape) {
  return 8 * serverElements(shape, 8) / factorElements(shape, 8);
}

bool prefersFactors(const FactorShape &shape, int ranks) {
  return factorElements(shape, ranks) <= serverElements(shape, ranks);
}

TEST(Traffic, CrossesOverWhereTheTableSays) {
  EXPECT_EQ(printed("%.0f", crossover(fc6)), "220");
  EXPECT_EQ(printed("%.0f", crossover(fc7)), "128");
  EXPECT_EQ(printed("%.0f", crossover(fc8)), "50");
  EXPECT_EQ(printed("%.0f", crossover(fc8Of22k)), "216");
  EXPECT_EQ(printed("%.1f", crossover(googLeNet)), "7.9");
  EXPECT_EQ(printed("%.0f", crossover(resNet)), "42");
  EXPECT_EQ(printed("%.0f", crossover({.inputs = 9216, .outputs = 4096, .samples = 256})), "22");
  EXPECT_EQ(printed("%.0f", crossover({.inputs = 4096, .outputs = 4096, .samples = 256})), "16");
  EXPECT_EQ(printed("%.1f", crossover({.inputs = 4096, .outputs = 1000, .samples = 256})), "6.3");
}

TEST(Traffic, PrefersFactorsBelowTheCrossover) {
  EXPECT_TRUE(prefersFactors(googLeNet, 7));
  EXPECT_FALSE(prefersFactors(googLeNet, 8));
  for (const FactorShape &shape : {fc6, fc7, fc8})
    for (int ranks : {8, 16, 32})
      EXPECT_TRUE(prefersFactors(shape, ranks));
  EXPECT_FALSE(prefersFactors(fc8, 51));
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

/// A short message travels along one tree, whose busiest rank has a parent and two children. Other
/// schemes move the same share of messages of any size.
TEST(Traffic, OfShortMessagesDiffersForTreesAlone) {
  for (Scheme scheme : allSchemes())
    for (int ranks : {1, 2, 3, 16, 64}) {
      const std::optional<double> traffic = shortTraffic(scheme, ranks);
      ASSERT_EQ(traffic.has_value(), scheme == Scheme::tree && ranks > 2)
          << schemeName(scheme) << " of " << ranks;
      if (traffic) {
        EXPECT_EQ(*traffic, ranks > 3 ? 6 : 4);
      }
    }
}

LinkRates rates(double alpha, double beta, double gamma) {
  return {.latency = alpha, .secondsPerByte = beta, .reduceSecondsPerByte = gamma};
}

/// A tie with the ring goes to the ring, which stands first: so it must be one, to the last bit.
TEST(ParameterServerCost, OfAServerOnEveryRankIsARings) {
  for (int ranks : {1, 2, 3, 4, 7, 16, 100})
    for (std::int64_t bytes : {0, 1, 4096, 123456789}) {
      LinkRates link = rates(3.7e-5, 7.9e-10, 1.3e-11);
      ServerLayout layout{.workers = ranks, .servers = ranks, .worker = link};
      EXPECT_EQ(parameterServerCost(layout)->seconds(bytes),
                formulaLine(Scheme::ring, ranks, link).seconds(bytes));
    }
  std::vector<SchemeOption> options = formulaCollectives(6, rates(1e-5, 1e-9, 1e-11));
  options.resize(1);
  options.push_back(serverOption({.workers = 6, .servers = 6, .worker = rates(1e-5, 1e-9, 1e-11)}));
  EXPECT_EQ(fastestOption(options, 1 << 20), 0u);
}

TEST(ParameterServerCost, CountsAColocatedServersMessages) {
  // 4 ranks: 3 blocks pushed, 3 sums pulled; each server sums the other three's quarters.
  ServerLayout layout{.workers = 4, .servers = 4, .worker = rates(1, 2, 8)};
  EXPECT_DOUBLE_EQ(parameterServerCost(layout)->seconds(100), 6 + 2 * 75 * 2 + 75 * 8);
  layout.duplex = Duplex::half;
  EXPECT_DOUBLE_EQ(parameterServerCost(layout)->seconds(100), 6 + 4 * 75 * 2 + 75 * 8);
  // Servers on 2 of the 4: others push 2 blocks, a server takes 3 halves and answers 3.
  layout = {.workers = 4, .servers = 2, .worker = rates(1, 2, 8)};
  EXPECT_DOUBLE_EQ(parameterServerCost(layout)->seconds(100), 2 + 3 + 2 * 150 * 2 + 150 * 8);
  // Half duplex: a server sends 1 half beside the 3 it takes.
  layout.duplex = Duplex::half;
  EXPECT_DOUBLE_EQ(parameterServerCost(layout)->seconds(100), 2 + 3 + 2 * 200 * 2 + 150 * 8);
}

TEST(ParameterServerCost, CountsADedicatedServersMessages) {
  // A worker sends to 2 servers, a server answers 4 workers.
  ServerLayout layout{.workers = 4,
                      .servers = 2,
                      .dedicated = true,
                      .worker = rates(1, 0, 0),
                      .server = rates(10, 0, 0)};
  EXPECT_DOUBLE_EQ(parameterServerCost(layout)->seconds(0), 2 * 1 + 4 * 10);
  // A single worker asks nobody.
  layout.workers = 1;
  EXPECT_EQ(parameterServerCost(layout)->seconds(100), 0);
  EXPECT_EQ(parameterServerTraffic(layout), 0);
}

TEST(ParameterServerCost, FewDedicatedServersAreTheBottleneck) {
  ServerLayout layout{.workers = 4,
                      .servers = 2,
                      .dedicated = true,
                      .worker = rates(0, 1, 0),
                      .server = rates(0, 1, 0),
                      .pieceBytes = 0};
  EXPECT_DOUBLE_EQ(parameterServerCost(layout)->seconds(100), 2 * 200);
  layout.server.secondsPerByte = 0.25; // faster links than the workers'
  EXPECT_DOUBLE_EQ(parameterServerCost(layout)->seconds(100), 2 * 100);
  layout.server.reduceSecondsPerByte = 2; // three halves added to the first
  EXPECT_DOUBLE_EQ(parameterServerCost(layout)->seconds(100), 2 * 100 + 2 * 150);
}

/// After the first piece of every block, pulls run beside pushes. So dedicated servers beat all
/// schemes of all-reduce.
TEST(ParameterServerCost, OverlapsPieces) {
  ServerLayout layout{.workers = 4,
                      .servers = 4,
                      .dedicated = true,
                      .worker = rates(0, 1, 0),
                      .server = rates(0, 1, 0),
                      .pieceBytes = 5};
  auto cost = parameterServerCost(layout);
  EXPECT_DOUBLE_EQ(cost->seconds(20), 40);
  EXPECT_DOUBLE_EQ(cost->seconds(100), 40 + 80);
  EXPECT_LT(cost->seconds(100), formulaLine(Scheme::ring, 4, layout.worker).seconds(100));
  layout.duplex = Duplex::half; // both directions share the link
  EXPECT_DOUBLE_EQ(parameterServerCost(layout)->seconds(100), 40 + 160);
  layout.duplex = Duplex::full;
  layout.server.reduceSecondsPerByte = 4; // 3/4 of it per byte: summing sets the pace
  EXPECT_DOUBLE_EQ(parameterServerCost(layout)->seconds(100), 20 * 5 + 80 * 3);
}

TEST(SchemeCost, FactorsGrowWithRanksAndSamples) {
  FactorShape shape{.inputs = 10, .outputs = 20, .samples = 3};
  EXPECT_EQ(shape.bytes(), 800);
  Factors factors = factorsOf(shape, 100);
  EXPECT_EQ(factors.bytes, 3 * 30 * 4);
  EXPECT_DOUBLE_EQ(factors.reconstruct, 2.0 * 3 * 200 / 100);
  EXPECT_DOUBLE_EQ(allGatherCost(5, rates(1, 2, 0)).seconds(factors.bytes),
                   4 * (1 + 3 * 30 * 4 * 2.0));
  EXPECT_EQ(allGatherCost(1, rates(1, 2, 0)).seconds(factors.bytes), 0);
}

TEST(SchemeCost, HierarchicalSharesANodesCards) {
  NodeLayout layout{
      .nodes = 2, .devicesPerNode = 4, .inside = rates(0, 1, 0), .between = rates(1, 10, 0)};
  HierarchicalCost cost = hierarchicalCost(layout);
  EXPECT_DOUBLE_EQ(cost.scatter.seconds(100), 75);
  EXPECT_DOUBLE_EQ(cost.exchange.seconds(100), 2 + 10 * 100);
  EXPECT_DOUBLE_EQ(cost.total().seconds(100), 75 + 1002 + 75);
  layout.linksPerNode = 4;
  EXPECT_DOUBLE_EQ(hierarchicalCost(layout).exchange.seconds(100), 2 + 10 * 25);
}

// NCCL's tree climbs log2 of the nodes, rounded up, and a chain inside the nodes, and comes back.
TEST(SchemeCost, NcclTree) {
  NodeLayout layout{.nodes = 5, .devicesPerNode = 4, .inside = {1, 7, 7}, .between = {10, 2, 3}};
  AffineCost cost = ncclTreeCost(layout);
  EXPECT_DOUBLE_EQ(cost.latency(), 2 * (3 * 10 + 3 * 1));
  EXPECT_DOUBLE_EQ(cost.secondsPerByte(), 2 * 2 + 3);
  EXPECT_EQ(ncclTreeCost({}).seconds(100), 0);
}

} // namespace
} // namespace syncline::problem
