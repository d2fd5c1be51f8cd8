// Writes, reads and verifies `sync.disturbed`.
#include "ir/sync/Disturbed.h"

#include "mlir/IR/Builders.h"

#include <cmath>

using namespace mlir;

namespace syncline::sync {
namespace {

constexpr llvm::StringLiteral plannerKey = "planner", crossesKey = "crosses";
constexpr std::pair<llvm::StringLiteral, double DisturbedPlan::*> timeKeys[] = {
    {"mean", &DisturbedPlan::mean}, {"low", &DisturbedPlan::low}, {"high", &DisturbedPlan::high}};

/// The plan that the attribute states; nothing where it states none.
std::optional<DisturbedPlan> planOf(Attribute attribute) {
  auto entries = dyn_cast<DictionaryAttr>(attribute);
  auto planner = entries ? entries.getAs<StringAttr>(plannerKey) : StringAttr();
  auto crosses = entries ? entries.getAs<BoolAttr>(crossesKey) : BoolAttr();
  if (!planner || !crosses || entries.size() != 2 + std::size(timeKeys))
    return std::nullopt;
  DisturbedPlan plan{.planner = planner.str(), .crosses = crosses.getValue()};
  for (auto [key, time] : timeKeys) {
    auto seconds = entries.getAs<FloatAttr>(key);
    if (!seconds || !seconds.getType().isF64())
      return std::nullopt;
    plan.*time = seconds.getValueAsDouble();
    if (!std::isfinite(plan.*time) || plan.*time < 0)
      return std::nullopt;
  }
  return plan.low <= plan.high ? std::optional(plan) : std::nullopt;
}

} // namespace

std::vector<DisturbedPlan> disturbedOf(PredictionOp prediction) {
  std::vector<DisturbedPlan> plans;
  if (auto list = prediction->getAttrOfType<ArrayAttr>(disturbedAttr))
    for (Attribute one : list)
      plans.push_back(planOf(one).value_or(DisturbedPlan()));
  return plans;
}

void setDisturbed(PredictionOp prediction, llvm::ArrayRef<DisturbedPlan> plans) {
  Builder builder(prediction->getContext());
  llvm::SmallVector<Attribute> list;
  for (const DisturbedPlan &plan : plans) {
    NamedAttrList entries;
    entries.append(plannerKey, builder.getStringAttr(plan.planner));
    entries.append(crossesKey, builder.getBoolAttr(plan.crosses));
    for (auto [key, time] : timeKeys)
      entries.append(key, builder.getF64FloatAttr(plan.*time));
    list.push_back(entries.getDictionary(builder.getContext()));
  }
  prediction->setAttr(disturbedAttr, builder.getArrayAttr(list));
}

LogicalResult verifyDisturbed(Operation *op, Attribute attribute) {
  auto plans = dyn_cast<ArrayAttr>(attribute);
  if (isa<PredictionOp>(op) && plans && !plans.empty() &&
      llvm::all_of(plans, [](Attribute plan) { return planOf(plan).has_value(); }))
    return success();
  return op->emitError("S21: expected '")
         << disturbedAttr
         << "' on a prediction, a list of plans with 'planner', 'crosses', 'mean' and 'low' <= "
            "'high', finite seconds that are not negative";
}

} // namespace syncline::sync
