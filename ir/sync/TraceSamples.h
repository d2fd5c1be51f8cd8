// How many samples a rank has in the step that a trace was read off: the discardable attribute
// `sync.samples` of a trace (S23).
#pragma once

#include "ir/sync/Sync.h"

#include <cstdint>
#include <optional>

namespace syncline::sync {

inline constexpr llvm::StringLiteral samplesAttr = "sync.samples";

/// Nothing where the trace does not state them.
std::optional<std::int64_t> samplesOf(TraceOp trace);

/// Precondition: samples >= 1.
void setSamples(TraceOp trace, std::int64_t samples);

/// S23, for an attribute of the dialect.
mlir::LogicalResult verifySamples(mlir::Operation *op, mlir::Attribute attribute);

} // namespace syncline::sync
