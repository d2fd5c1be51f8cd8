// Lines under costs, judged by the proof's own rule.
#include "passes/solver/CostLines.h"
#include "passes/proof/BoundLimits.h"
#include "tests/unit/solver/RandomProblem.h"

#include <gtest/gtest.h>

#include <cmath>

namespace syncline::solver {

using namespace problem;

namespace {

double magnitude(Random &random, double least, double most) {
  return std::pow(10, random.between(least, most));
}

/// A table whose points are on one line but for rounding, from short messages to long ones.
std::shared_ptr<const CollectiveCost> straightTable(Random &random, std::int64_t most) {
  const double latency = magnitude(random, -9, -4), slope = magnitude(random, -12, -8);
  std::vector<CostPoint> points;
  for (std::int64_t bytes = 0; bytes < most; bytes += 1 + 9 * bytes + random.below(100))
    points.push_back({bytes, latency + slope * static_cast<double>(bytes)});
  points.push_back({most, latency + slope * static_cast<double>(most)});
  return std::make_shared<TableCost>(*TableCost::create(points));
}

// An edge of long messages has no sense for the latency of short ones: where such edges are on one
// line, the difference of their times is mostly rounding.
TEST(CostLines, LieUnderStraightTables) {
  constexpr double parts[] = {1, 1.0 / 16, 1.0 / 256, 1e-4, 1e-6};
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    const auto most = static_cast<std::int64_t>(magnitude(random, 4, 11));
    Problem problem;
    problem.mergeClasses.push_back({.options = {{Scheme::ring, straightTable(random, most)}}});
    const std::array<std::int64_t, maxMergeClasses> all{most};
    for (const CostLines &lines : costLines(problem, all, parts, true))
      ASSERT_TRUE(proof::liesUnder(lines[0], *problem.mergeClasses[0].options[0].cost, most))
          << "seed " << seed << ": " << lines[0].latency << " s + " << lines[0].secondsPerByte
          << " s/B";
  }
}

} // namespace
} // namespace syncline::solver
