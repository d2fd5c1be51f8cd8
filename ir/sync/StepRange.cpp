// Writes, reads and verifies `sync.range`.
#include "ir/sync/StepRange.h"

#include "mlir/IR/Builders.h"

#include <cmath>

using namespace mlir;

namespace syncline::sync {
namespace {

constexpr llvm::StringLiteral doubtKey = "doubt", runsKey = "runs", fastKey = "fast",
                              slowKey = "slow";
constexpr std::pair<llvm::StringLiteral, double RangeEnd::*> numberKeys[] = {
    {"step", &RangeEnd::step},
    {"exposed", &RangeEnd::exposed},
    {"efficiency", &RangeEnd::efficiency}};
constexpr std::pair<llvm::StringLiteral, std::int64_t RangeEnd::*> countKeys[] = {
    {"messages", &RangeEnd::messages}, {"schemes", &RangeEnd::schemes}};
constexpr std::pair<llvm::StringLiteral, bool RangeEnd::*> flagKeys[] = {
    {"regroups", &RangeEnd::regroups}, {"crosses", &RangeEnd::crosses}};

/// The number, unless it is no f64, not finite or negative.
std::optional<double> numberOf(DictionaryAttr entries, StringRef key) {
  auto number = entries.getAs<FloatAttr>(key);
  if (!number || !number.getType().isF64() || !std::isfinite(number.getValueAsDouble()) ||
      number.getValueAsDouble() < 0)
    return std::nullopt;
  return number.getValueAsDouble();
}

std::optional<RangeEnd> endOf(DictionaryAttr entries) {
  if (!entries ||
      entries.size() != std::size(numberKeys) + std::size(countKeys) + std::size(flagKeys))
    return std::nullopt;
  RangeEnd end;
  for (auto [key, member] : numberKeys) {
    const auto number = numberOf(entries, key);
    if (!number)
      return std::nullopt;
    end.*member = *number;
  }
  for (auto [key, member] : countKeys) {
    auto count = entries.getAs<IntegerAttr>(key);
    if (!count || !count.getType().isInteger(64) || count.getInt() < 0)
      return std::nullopt;
    end.*member = count.getInt();
  }
  for (auto [key, member] : flagKeys) {
    auto flag = entries.getAs<BoolAttr>(key);
    if (!flag)
      return std::nullopt;
    end.*member = flag.getValue();
  }
  return end;
}

std::optional<StepRange> read(Attribute attribute) {
  auto entries = dyn_cast<DictionaryAttr>(attribute);
  if (!entries || entries.size() != 4)
    return std::nullopt;
  auto runs = entries.getAs<IntegerAttr>(runsKey);
  const auto doubt = numberOf(entries, doubtKey);
  const auto fast = endOf(entries.getAs<DictionaryAttr>(fastKey)),
             slow = endOf(entries.getAs<DictionaryAttr>(slowKey));
  if (!runs || !runs.getType().isInteger(64) || runs.getInt() < 1 || !doubt || *doubt >= 1 ||
      !fast || !slow)
    return std::nullopt;
  return StepRange{*doubt, runs.getInt(), *fast, *slow};
}

DictionaryAttr write(Builder &builder, const RangeEnd &end) {
  NamedAttrList entries;
  for (auto [key, member] : numberKeys)
    entries.append(key, builder.getF64FloatAttr(end.*member));
  for (auto [key, member] : countKeys)
    entries.append(key, builder.getI64IntegerAttr(end.*member));
  for (auto [key, member] : flagKeys)
    entries.append(key, builder.getBoolAttr(end.*member));
  return entries.getDictionary(builder.getContext());
}

} // namespace

std::optional<StepRange> rangeOf(PredictionOp prediction) {
  const Attribute attribute = prediction->getAttr(rangeAttr);
  return attribute ? read(attribute) : std::nullopt;
}

void setRange(PredictionOp prediction, const StepRange &range) {
  Builder builder(prediction->getContext());
  NamedAttrList entries;
  entries.append(doubtKey, builder.getF64FloatAttr(range.doubt));
  entries.append(runsKey, builder.getI64IntegerAttr(range.runs));
  entries.append(fastKey, write(builder, range.fast));
  entries.append(slowKey, write(builder, range.slow));
  prediction->setAttr(rangeAttr, entries.getDictionary(builder.getContext()));
}

LogicalResult verifyRange(Operation *op, Attribute attribute) {
  if (isa<PredictionOp>(op) && read(attribute))
    return success();
  return op->emitError("S22: expected '")
         << rangeAttr
         << "' on a prediction: a 'doubt' below 1, at least one of 'runs', and ends 'fast' and "
            "'slow' of finite numbers, counts and flags";
}

} // namespace syncline::sync
