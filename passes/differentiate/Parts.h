// Parts of a value that slices read, and that lie side by side.
#pragma once

#include "ir/nn/NN.h"

#include <optional>

namespace syncline::differentiate {

/// The slices of the forward pass that read the value.
llvm::SmallVector<nn::SliceOp> slicesOf(mlir::Value value);

/// The axis along which the slices of one value read parts of it. Unset unless all read whole
/// neighbours along one axis, any two read the same or nothing in common, and two at least read
/// parts that lie side by side.
std::optional<std::int64_t> axisOfParts(llvm::ArrayRef<nn::SliceOp> slices);

/// A part's first place along the axis, and one behind its last.
struct PartRange {
  std::int64_t begin, end;

  auto operator<=>(const PartRange &) const = default;
};

PartRange rangeOf(nn::SliceOp slice, std::int64_t axis);

} // namespace syncline::differentiate
