// Conversion between cost attributes and cost functions.
#include "passes/cost/CollectiveTime.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace mlir;

namespace syncline::cost {

static std::shared_ptr<const problem::CollectiveCost> formulaTime(cluster::FormulaAttr formula) {
  const auto ranks = static_cast<int>(formula.getRanks());
  const problem::LinkRates rates{formula.getAlpha(), formula.getBeta(), formula.getGamma()};
  return problem::formulaCost(formula.getAlgorithm(), ranks, rates);
}

Result<std::shared_ptr<const problem::CollectiveCost>> collectiveTime(Attribute cost) {
  using Pointer = std::shared_ptr<const problem::CollectiveCost>;
  if (auto line = llvm::dyn_cast_or_null<cluster::AffineAttr>(cost))
    return Pointer(std::make_shared<problem::AffineCost>(line.getA(), line.getB()));
  if (auto formula = llvm::dyn_cast_or_null<cluster::FormulaAttr>(cost))
    return formulaTime(formula);
  if (auto table = llvm::dyn_cast_or_null<cluster::TableAttr>(cost)) {
    std::vector<problem::CostPoint> points;
    for (const cluster::Point &point : table.getPoints())
      points.push_back({point.bytes, point.seconds});
    Result<problem::TableCost> created = problem::TableCost::create(points);
    if (!created)
      return created.status();
    return Pointer(std::make_shared<problem::TableCost>(std::move(*created)));
  }
  std::string got = "nothing";
  if (cost) {
    got.clear();
    llvm::raw_string_ostream(got) << cost;
  }
  return Status::badInput("expected #cluster.formula, #cluster.affine or #cluster.table, got " +
                          got);
}

Attribute costAttr(MLIRContext *context, const problem::CollectiveCost &cost,
                   double secondsPerByte) {
  const std::span<const problem::CostSegment> pieces = cost.segments();
  if (pieces.size() == 1)
    return cluster::AffineAttr::get(context, pieces[0].base, pieces[0].slope + secondsPerByte);
  auto secondsAt = [&](std::int64_t bytes) {
    return cost.seconds(bytes) + secondsPerByte * static_cast<double>(bytes);
  };
  llvm::SmallVector<cluster::Point> points;
  auto add = [&](std::int64_t bytes) {
    if (points.empty() || points.back().bytes < bytes)
      points.push_back({bytes, secondsAt(bytes)});
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::int64_t first = pieces[i].firstByte;
    // Where a piece does not end at the beginning of the next, its last byte is a point of its own.
    if (i > 0) {
      const double line = secondsAt(first - 1) + pieces[i - 1].slope + secondsPerByte;
      if (std::abs(secondsAt(first) - line) > 1e-12 * std::abs(line))
        add(first - 1);
    }
    add(first);
  }
  // The last line continues for ever; a long stretch of it keeps its slope to the last digits.
  const std::int64_t last = pieces.back().firstByte,
                     stretch = std::max(last, std::int64_t{1} << 20);
  add(last + std::min(stretch, std::numeric_limits<std::int64_t>::max() - last));
  return cluster::TableAttr::get(context, points);
}

double extraPerByte(const problem::CollectiveCost &whole,
                    const problem::CollectiveCost &collective) {
  constexpr std::int64_t large = std::int64_t{1} << 40; // the shared latency then rounds little
  return std::max(0.0, (whole.seconds(large) - collective.seconds(large)) / large);
}

} // namespace syncline::cost
