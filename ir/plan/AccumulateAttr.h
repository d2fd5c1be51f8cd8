// The discardable attribute `accumulate` of plan.program.
#pragma once

#include "ir/plan/Plan.h"

#include <cstdint>

namespace syncline::plan {

/// An i64, at least 2: a step adds up the gradients of so many batches, one pass after the other,
/// and applies their mean (P36). A program without it has one pass.
inline constexpr llvm::StringLiteral accumulateAttr = "accumulate";

/// The passes of a step. Precondition: P36a holds.
inline std::int64_t passesOf(ProgramOp program) {
  auto passes = program->getAttrOfType<mlir::IntegerAttr>(accumulateAttr);
  return passes ? passes.getInt() : 1;
}

/// The bytes that a rank holds beside the program's spaces for the sums of the passes before the
/// last one, as much as the gradients of all buckets; 0 for a program of one pass.
inline std::int64_t sumsBytes(ProgramOp program) {
  std::int64_t bytes = 0;
  if (passesOf(program) > 1)
    for (auto bucket : program.getOps<BucketOp>())
      bytes += static_cast<std::int64_t>(bucket.getExtent());
  return bytes;
}

} // namespace syncline::plan
