// Conversion of cost attributes.
#include "passes/cost/CollectiveTime.h"

#include "passes/solver/joint/SchemeCost.h"

#include <vector>

using namespace mlir;

namespace syncline::cost {

static solver::AffineCost formulaTime(cluster::FormulaAttr formula) {
  const auto ranks = static_cast<int>(formula.getRanks());
  const solver::LinkRates rates{formula.getAlpha(), formula.getBeta(), formula.getGamma()};
  const cluster::Scheme algorithm = formula.getAlgorithm();
  if (algorithm == cluster::Scheme::reduceScatter)
    return solver::reduceScatterCost(ranks, rates);
  // The solver has no MLIR; its names are the same.
  return solver::formulaCost(*solver::parseScheme(cluster::stringifyScheme(algorithm)), ranks,
                             rates);
}

Result<std::unique_ptr<solver::CollectiveCost>> collectiveTime(Attribute cost) {
  using Pointer = std::unique_ptr<solver::CollectiveCost>;
  if (auto line = llvm::dyn_cast_or_null<cluster::AffineAttr>(cost))
    return Pointer(std::make_unique<solver::AffineCost>(line.getA(), line.getB()));
  if (auto formula = llvm::dyn_cast_or_null<cluster::FormulaAttr>(cost))
    return Pointer(std::make_unique<solver::AffineCost>(formulaTime(formula)));
  if (auto table = llvm::dyn_cast_or_null<cluster::TableAttr>(cost)) {
    std::vector<solver::CostPoint> points;
    for (const cluster::Point &point : table.getPoints())
      points.push_back({point.bytes, point.seconds});
    Result<solver::TableCost> created = solver::TableCost::create(points);
    if (!created)
      return created.status();
    return Pointer(std::make_unique<solver::TableCost>(std::move(*created)));
  }
  std::string got = "nothing";
  if (cost) {
    got.clear();
    llvm::raw_string_ostream(got) << cost;
  }
  return Status::badInput("expected #cluster.formula, #cluster.affine or #cluster.table, got " +
                          got);
}

} // namespace syncline::cost
