// The discardable attribute `clip_norm` of plan.program.
#pragma once

#include "ir/plan/Plan.h"

#include <optional>

namespace syncline::plan {

/// An f64: all mean gradients are multiplied by min(1, clip_norm / norm), where norm is that of all
/// of them together. Then all updates follow the last message (P32).
inline constexpr llvm::StringLiteral clipNormAttr = "clip_norm";

/// The smallest and the largest norm to which a program may clip.
inline constexpr double leastClipNorm = 1e-30, mostClipNorm = 1e30;

/// The norm to which the program clips; nothing where it does not clip. Precondition: P32a holds.
inline std::optional<double> clipNormOf(ProgramOp program) {
  auto norm = program->getAttrOfType<mlir::FloatAttr>(clipNormAttr);
  return norm ? std::optional(norm.getValueAsDouble()) : std::nullopt;
}

} // namespace syncline::plan
