// The discardable attribute `cases` of sync.solution.
#pragma once

#include "ir/sync/Sync.h"

#include <optional>

namespace syncline::sync {

/// An array: the certificate of an order in cases, which tell apart how gradients travel (S18). A
/// case is an array of its bound in seconds and a #sync.order, or of a layer, the case in which it
/// travels by factors and the case in which it travels in a bucket. `certificate` is then the
/// #sync.order of the case that proves least.
inline constexpr llvm::StringLiteral casesAttr = "cases";

/// What a case says: exactly one of two things.
struct CaseRow {
  double bound = 0; ///< seconds
  OrderAttr proof;  ///< null where further cases are told apart
  std::int64_t layer = 0;
  mlir::Attribute byFactors, inBucket; ///< cases
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
    return CaseRow{bound.getValueAsDouble(), proof, 0, {}, {}};
  }
  auto layer = row.size() == 3 ? mlir::dyn_cast<mlir::IntegerAttr>(row[0]) : mlir::IntegerAttr();
  if (!layer || layer.getValue().getSignificantBits() > 64 || layer.getInt() < 0)
    return std::nullopt;
  return CaseRow{0, {}, layer.getInt(), row[1], row[2]};
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
  return row->proof || (isCase(row->byFactors, left) && isCase(row->inBucket, left));
}

} // namespace syncline::sync
