// Conversion of cost attributes.
#include "passes/cost/CollectiveTime.h"

#include <vector>

using namespace mlir;

namespace syncline::cost {

static solver::Scheme schemeOf(cluster::Algorithm algorithm) {
  switch (algorithm) {
  case cluster::Algorithm::ring:
    return solver::Scheme::ring;
  case cluster::Algorithm::recursiveDoubling:
    return solver::Scheme::recursiveDoubling;
  case cluster::Algorithm::halvingDoubling:
    return solver::Scheme::halvingDoubling;
  case cluster::Algorithm::tree:
    return solver::Scheme::tree;
  }
  llvm_unreachable("every algorithm is named above");
}

Result<std::unique_ptr<solver::CollectiveCost>> collectiveTime(Attribute cost) {
  using Pointer = std::unique_ptr<solver::CollectiveCost>;
  if (auto line = llvm::dyn_cast_or_null<cluster::AffineAttr>(cost))
    return Pointer(std::make_unique<solver::AffineCost>(line.getA(), line.getB()));
  if (auto formula = llvm::dyn_cast_or_null<cluster::FormulaAttr>(cost))
    return Pointer(std::make_unique<solver::AffineCost>(
        solver::formulaCost(schemeOf(formula.getAlgorithm()), static_cast<int>(formula.getRanks()),
                            {formula.getAlpha(), formula.getBeta(), formula.getGamma()})));
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
