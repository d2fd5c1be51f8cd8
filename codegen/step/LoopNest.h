// A loop over operands of which some broadcast, and the text of its parts.
#pragma once

#include "codegen/step/KernelBody.h"
#include "ir/plan/Plan.h"

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace syncline::codegen {

/// The dimensions of a result, where neighbours that every operand walks alike are merged into one.
struct LoopNest {
  llvm::SmallVector<std::int64_t> extents; ///< outermost first, at least one
  /// Elements between neighbours, for each operand (inputs, then results) and each dimension; 0
  /// where the operand broadcasts. The innermost stride is 0 or 1.
  std::vector<llvm::SmallVector<std::int64_t>> strides;

  std::int64_t elements() const;
};

LoopNest nestOf(plan::PointwiseOp loop);

/// An index over loop variables i0, i1, .., such as "i0 * 64 + i1"; "0" where all strides are 0.
std::string indexOf(llvm::ArrayRef<std::int64_t> strides);

/// The C++ type of an operand's elements; empty where C++ has none.
llvm::StringRef elementType(mlir::Value operand);

/// The text for one element: it loads x0, x1, .. from inputs a0, a1, .., computes the body, and
/// stores to results r0, r1, ... `subscript` gives the text after an operand's name, such as "[i]";
/// inputs count before results.
std::string element(plan::PointwiseOp loop, const KernelBody &body, llvm::StringRef indent,
                    const std::function<std::string(size_t)> &subscript);

} // namespace syncline::codegen
