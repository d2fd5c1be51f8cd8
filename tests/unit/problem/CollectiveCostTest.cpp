// Costs: interpolation, formulas, fits, and the tables that are refused.
#include "passes/problem/CollectiveCost.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace syncline::problem {

namespace {

TEST(TableCost, InterpolatesBetweenPointsAndExtrapolatesTheLastLine) {
  std::vector<CostPoint> points{{100, 1.0}, {200, 2.0}, {400, 6.0}};
  Result<TableCost> cost = TableCost::create(points);
  ASSERT_TRUE(cost.isOk());
  EXPECT_DOUBLE_EQ(cost->seconds(0), 1.0);
  EXPECT_DOUBLE_EQ(cost->seconds(100), 1.0);
  EXPECT_DOUBLE_EQ(cost->seconds(150), 1.5);
  EXPECT_DOUBLE_EQ(cost->seconds(200), 2.0);
  EXPECT_DOUBLE_EQ(cost->seconds(300), 4.0);
  EXPECT_DOUBLE_EQ(cost->seconds(500), 8.0);
}

TEST(TableCost, StaysLevelBeyondALineThatFalls) {
  std::vector<CostPoint> points{{0, 2.0}, {100, 1.0}};
  Result<TableCost> cost = TableCost::create(points);
  ASSERT_TRUE(cost.isOk());
  EXPECT_DOUBLE_EQ(cost->seconds(50), 1.5);
  EXPECT_DOUBLE_EQ(cost->seconds(1000), 1.0);
}

TEST(TableCost, IsLevelWithOnePoint) {
  std::vector<CostPoint> points{{100, 3.0}};
  Result<TableCost> cost = TableCost::create(points);
  ASSERT_TRUE(cost.isOk());
  EXPECT_EQ(cost->seconds(0), 3.0);
  EXPECT_EQ(cost->seconds(1 << 20), 3.0);
}

/// What solvers read piece by piece is the function itself.
TEST(TableCost, PiecesAgreeWithItsValues) {
  std::vector<CostPoint> points{{7, 1e-4}, {8, 9e-4}, {1000, 3e-4}, {5000, 7e-3}};
  Result<TableCost> cost = TableCost::create(points);
  ASSERT_TRUE(cost.isOk());
  std::span<const CostSegment> pieces = cost->segments();
  ASSERT_EQ(pieces.front().firstByte, 0);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::int64_t end = i + 1 < pieces.size() ? pieces[i + 1].firstByte : 9000;
    for (std::int64_t bytes = pieces[i].firstByte; bytes < end; ++bytes)
      ASSERT_EQ(cost->seconds(bytes),
                pieces[i].base +
                    pieces[i].slope * static_cast<double>(bytes - pieces[i].firstByte));
  }
}

void expectRefused(const std::vector<CostPoint> &points, const std::string &message) {
  Result<TableCost> cost = TableCost::create(points);
  ASSERT_FALSE(cost.isOk());
  EXPECT_EQ(cost.status().kind(), ErrorKind::badInput);
  EXPECT_EQ(cost.status().message(), message);
}

TEST(TableCost, RefusesWhatIsNoTable) {
  expectRefused({}, "cost table: expected at least one point, got none");
  expectRefused({{-1, 1}}, "cost table, point 1: expected bytes >= 0, got -1");
  expectRefused({{1, 1}, {1, 2}}, "cost table, point 2: expected more than 1 bytes, got 1");
  expectRefused({{1, -1}}, "cost table, point 1: expected a finite time >= 0, got -1.000000");
  expectRefused({{1, 0}, {2, std::nan("")}},
                "cost table, point 2: expected a finite time >= 0, got nan");
}

/// One row of design's table each, computed by hand for 8 ranks.
TEST(FormulaCost, FollowsThePublishedFormulas) {
  LinkRates rates{1.0, 0.25, 0.5};
  struct {
    Scheme scheme;
    double latency, perByte;
  } rows[] = {{Scheme::ring, 14, 7.0 / 8 * (0.5 + 0.5)},
              {Scheme::recursiveDoubling, 3, 3 * 0.75},
              {Scheme::halvingDoubling, 6, 1.0 - 1.0 / 8},
              {Scheme::reduceScatter, 14, 7.0 / 8 * (0.5 + 0.5)}};
  for (const auto &row : rows) {
    AffineCost cost = formulaLine(row.scheme, 8, rates);
    EXPECT_DOUBLE_EQ(cost.latency(), row.latency) << schemeName(row.scheme);
    EXPECT_DOUBLE_EQ(cost.secondsPerByte(), row.perByte) << schemeName(row.scheme);
  }
}

/// Where P is no power of two, hosts send twice: by hand for 3, 5, 6 and 12 ranks. 6 ranks: halves
/// of 3, each with a host; then 2 and 1. 12: 6, then 3, then 2 and 1.
TEST(FormulaCost, CountsHosts) {
  struct {
    int ranks;
    double levels, sends, share;
  } rows[] = {{3, 2, 3, 3.0 / 3},
              {5, 3, 5, (4 + 2 + 1) / 5.0},
              {6, 3, 4, (3 + 2 + 1) / 6.0},
              {12, 4, 5, (6 + 3 + 2 + 1) / 12.0}};
  for (const auto &row : rows) {
    LinkRates rates{1.0, 0.25, 0.5};
    AffineCost doubling = formulaLine(Scheme::recursiveDoubling, row.ranks, rates);
    EXPECT_DOUBLE_EQ(doubling.latency(), row.sends) << row.ranks;
    EXPECT_DOUBLE_EQ(doubling.secondsPerByte(), row.sends * 0.25 + row.levels * 0.5) << row.ranks;
    AffineCost halving = formulaLine(Scheme::halvingDoubling, row.ranks, rates);
    EXPECT_DOUBLE_EQ(halving.latency(), row.levels + row.sends) << row.ranks;
    EXPECT_DOUBLE_EQ(halving.secondsPerByte(), row.share * 1.0) << row.ranks;
  }
}

// Twice as many groups as 2^30 are more than an int counts.
TEST(FormulaCost, KnowsAsManyRanksAsAnIntCounts) {
  constexpr int most = std::numeric_limits<int>::max();
  for (int ranks : {(1 << 30) + 1, most})
    EXPECT_DOUBLE_EQ(formulaLine(Scheme::halvingDoubling, ranks, {1, 0, 0}).latency(), 2 * 31 + 30);
  EXPECT_DOUBLE_EQ(formulaCost(Scheme::tree, (1 << 30) + 1, {1, 0, 0})->seconds(0), 3 * 30 - 1);
  EXPECT_DOUBLE_EQ(formulaCost(Scheme::tree, most, {1, 0, 0})->seconds(0), 3 * 30);
  EXPECT_DOUBLE_EQ(formulaTraffic(Scheme::tree, most, 1 << 20), 4);
}

TEST(FormulaCost, IsFreeForOneRank) {
  for (Scheme scheme : allSchemes())
    if (hasFormula(scheme)) {
      EXPECT_EQ(formulaCost(scheme, 1, {1, 1, 1})->seconds(1000), 0) << schemeName(scheme);
      EXPECT_EQ(formulaTraffic(scheme, 1, 1000), 0) << schemeName(scheme);
    }
  EXPECT_FALSE(hasFormula(Scheme::hierarchical));
  EXPECT_FALSE(hasFormula(Scheme::library));
  EXPECT_FALSE(hasFormula(Scheme::factors));
  EXPECT_FALSE(hasFormula(Scheme::sparse));
}

TEST(FormulaTraffic, CountsBothDirections) {
  auto traffic = [](Scheme scheme, int ranks) { return formulaTraffic(scheme, ranks, 1 << 20); };
  EXPECT_DOUBLE_EQ(traffic(Scheme::ring, 4), 3);
  EXPECT_DOUBLE_EQ(traffic(Scheme::reduceScatter, 4), 3);
  EXPECT_DOUBLE_EQ(traffic(Scheme::halvingDoubling, 4), 3);
  EXPECT_DOUBLE_EQ(traffic(Scheme::recursiveDoubling, 4), 4);
  EXPECT_DOUBLE_EQ(traffic(Scheme::tree, 2), 2);
  EXPECT_DOUBLE_EQ(traffic(Scheme::tree, 64), 4);
  // With 3 ranks, the host is rank 2: it sends two and receives one, and has no level below. Rank 0
  // exchanges with it and with rank 1. Counted in blocks these are 3 and 2, both there and back.
  EXPECT_DOUBLE_EQ(traffic(Scheme::recursiveDoubling, 3), 4);
  EXPECT_DOUBLE_EQ(traffic(Scheme::halvingDoubling, 3), 2 * (3 + 2) / 3.0);
  // With 7 ranks (4 and 3), the host is rank 4. Like all ranks it has two levels below: 3 + 2 + 2.
  EXPECT_DOUBLE_EQ(traffic(Scheme::recursiveDoubling, 7), 7);
}

TEST(FitAffine, RecoversALineAndBalancesAJump) {
  AffineCost line(2e-3, 1e-9);
  std::vector<std::int64_t> sizes{0, 1000, 5000000};
  AffineFit fit = fitAffine(line, sizes);
  EXPECT_NEAR(fit.latency, 2e-3, 1e-12);
  EXPECT_NEAR(fit.secondsPerByte, 1e-9, 1e-18);

  std::vector<CostPoint> points{{0, 0.0}, {1, 3.0}, {2, 3.0}};
  TableCost jump = *TableCost::create(points);
  std::vector<std::int64_t> three{0, 1, 2};
  fit = fitAffine(jump, three);
  EXPECT_NEAR(fit.latency, 0.5, 1e-12);
  EXPECT_NEAR(fit.secondsPerByte, 1.5, 1e-12);
}

TEST(FitAffine, IsLevelWithoutTwoSizes) {
  AffineCost line(1, 1);
  std::vector<std::int64_t> same{4, 4};
  EXPECT_EQ(fitAffine(line, same).latency, 5);
  EXPECT_EQ(fitAffine(line, same).secondsPerByte, 0);
  EXPECT_EQ(fitAffine(line, {}).latency, 0);
}

TEST(SchemeName, IsReadBack) {
  for (Scheme scheme : allSchemes())
    EXPECT_EQ(parseScheme(schemeName(scheme)), scheme);
  EXPECT_EQ(parseScheme("star"), std::nullopt);
}

} // namespace
} // namespace syncline::problem
