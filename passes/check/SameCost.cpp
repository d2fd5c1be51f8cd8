// Compares costs, options and merge classes up to rounding.
#include "passes/check/SameCost.h"

using namespace mlir;

namespace syncline {

bool isSameCost(Attribute a, Attribute b) {
  if (a == b)
    return true;
  if (auto line = dyn_cast<cluster::AffineAttr>(a)) {
    auto other = dyn_cast<cluster::AffineAttr>(b);
    return other && !differ(line.getA(), other.getA()) && !differ(line.getB(), other.getB());
  }
  if (auto formula = dyn_cast<cluster::FormulaAttr>(a)) {
    auto other = dyn_cast<cluster::FormulaAttr>(b);
    return other && formula.getAlgorithm() == other.getAlgorithm() &&
           formula.getRanks() == other.getRanks() &&
           !differ(formula.getAlpha(), other.getAlpha()) &&
           !differ(formula.getBeta(), other.getBeta()) &&
           !differ(formula.getGamma(), other.getGamma());
  }
  auto table = dyn_cast<cluster::TableAttr>(a), other = dyn_cast<cluster::TableAttr>(b);
  return table && other &&
         llvm::equal(table.getPoints(), other.getPoints(), [](auto &mine, auto &theirs) {
           return mine.bytes == theirs.bytes && !differ(mine.seconds, theirs.seconds);
         });
}

bool isSameOption(sync::OptionAttr a, sync::OptionAttr b) {
  return a && b && a.getScheme() == b.getScheme() && !differ(a.getTraffic(), b.getTraffic()) &&
         isSameCost(a.getCost(), b.getCost());
}

bool isSameMergeClass(sync::MergeClassAttr a, sync::MergeClassAttr b) {
  return a.getLargest() == b.getLargest() && a.getCapacity() == b.getCapacity() &&
         llvm::equal(a.getOptions(), b.getOptions(), isSameOption);
}

} // namespace syncline
