// The discardable attribute `rows` of plan.bucket.
#pragma once

#include "ir/plan/Plan.h"

#include <optional>

namespace syncline::plan {

/// An i64: how many rows of an embedding's gradient each rank contributes to a bucket that travels
/// by `sparse` (P34). No step has more, since the model's batch and sequence are fixed.
inline constexpr llvm::StringLiteral rowsAttr = "rows";

/// The bucket's rows; nothing where it does not state them as an i64.
inline std::optional<std::int64_t> rowsOf(BucketOp bucket) {
  auto rows = bucket->getAttrOfType<mlir::IntegerAttr>(rowsAttr);
  if (!rows || !rows.getType().isInteger(64))
    return std::nullopt;
  return rows.getInt();
}

} // namespace syncline::plan
