// Conversion between cost attributes and cost functions.
#include "passes/cost/CollectiveTime.h"

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
    SYNCLINE_TRY_GET(created, problem::TableCost::create(points));
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

Attribute costAttr(MLIRContext *context, const problem::CollectiveCost &cost) {
  if (const auto *line = dynamic_cast<const problem::AffineCost *>(&cost))
    return cluster::AffineAttr::get(context, line->latency(), line->secondsPerByte());
  if (const auto *formula = dynamic_cast<const problem::FormulaCost *>(&cost)) {
    const problem::LinkRates &rates = formula->rates();
    return cluster::FormulaAttr::get(context, formula->scheme(), formula->ranks(), rates.latency,
                                     rates.secondsPerByte, rates.reduceSecondsPerByte);
  }
  llvm::SmallVector<cluster::Point> points;
  for (const problem::CostPoint &point : dynamic_cast<const problem::TableCost &>(cost).points())
    points.push_back({point.bytes, point.seconds});
  return cluster::TableAttr::get(context, points);
}

} // namespace syncline::cost
