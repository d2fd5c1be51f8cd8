// What a plan's step is where computation takes less or more time than predicted: the discardable
// attribute `sync.range` of a prediction (S22).
#pragma once

#include "ir/sync/Sync.h"

#include <optional>

namespace syncline::sync {

inline constexpr llvm::StringLiteral rangeAttr = "sync.range";

/// One end of the range.
struct RangeEnd {
  double step = 0, exposed = 0; ///< seconds by the plan
  double efficiency = 0;        ///< one device's step over it
  std::int64_t messages = 0;    ///< of a plan that is made for this end
  std::int64_t schemes = 0;     ///< gradients that travel by other schemes in it
  bool regroups = false;        ///< whether its messages have other gradients
  bool crosses = false;         ///< whether they reach into the next step
};

struct StepRange {
  double doubt = 0;      ///< 0.3: computation may take 30 % less, or more
  std::int64_t runs = 0; ///< published ones, of which nine of ten were off by no more
  RangeEnd fast, slow;
};

/// Nothing where the prediction states none.
std::optional<StepRange> rangeOf(PredictionOp prediction);

void setRange(PredictionOp prediction, const StepRange &range);

/// S22, for an attribute of the dialect.
mlir::LogicalResult verifyRange(mlir::Operation *op, mlir::Attribute attribute);

} // namespace syncline::sync
