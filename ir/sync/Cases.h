// Reads the attribute `cases` of sync.solution.
#pragma once

#include "ir/sync/Sync.h"

#include <optional>

namespace syncline::sync {

/// What a case says: a bound, or two further cases.
struct CaseRow {
  double bound = 0; ///< seconds
  OrderAttr proof;  ///< null where further cases are told apart
  std::int64_t layer = 0;
  std::optional<std::int64_t> other; ///< where orders are told apart, not ways
  /// Cases: by factors and in a bucket, or before and behind the other layer.
  mlir::Attribute first, second;
};

/// Reads one case; nothing where it is not one.
inline std::optional<CaseRow> caseRow(mlir::Attribute attr) {
  auto row = mlir::dyn_cast_or_null<mlir::ArrayAttr>(attr);
  if (!row)
    return std::nullopt;
  if (row.size() == 2) {
    auto bound = mlir::dyn_cast<mlir::FloatAttr>(row[0]);
    auto proof = mlir::dyn_cast<OrderAttr>(row[1]);
    if (!bound || !proof)
      return std::nullopt;
    return CaseRow{bound.getValueAsDouble(), proof, 0, {}, {}, {}};
  }
  if (row.size() != 3 && row.size() != 4)
    return std::nullopt;
  const auto layerAt = [&](std::size_t i) -> std::optional<std::int64_t> {
    auto layer = mlir::dyn_cast<mlir::IntegerAttr>(row[i]);
    if (!layer || layer.getValue().getSignificantBits() > 64 || layer.getInt() < 0)
      return std::nullopt;
    return layer.getInt();
  };
  const std::optional<std::int64_t> layer = layerAt(0);
  const std::optional<std::int64_t> other = row.size() == 4 ? layerAt(1) : std::nullopt;
  if (!layer || (row.size() == 4 && !other))
    return std::nullopt;
  return CaseRow{0, {}, *layer, other, row[row.size() - 2], row[row.size() - 1]};
}

/// Cases that are not told apart further, in one certificate at most.
inline constexpr std::size_t maxCases = 64;

/// Whether this is a case, and `left` rows are enough for it and all within it; takes those that it
/// needs. The number is limited because a row that stands in many places is stored once.
inline bool isCase(mlir::Attribute attr, std::size_t &left) {
  const std::optional<CaseRow> row = caseRow(attr);
  if (!row || left == 0)
    return false;
  --left;
  return row->proof || (isCase(row->first, left) && isCase(row->second, left));
}

} // namespace syncline::sync
