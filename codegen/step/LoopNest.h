// A loop over operands of which some broadcast, and its pieces of text.
#pragma once

#include "codegen/step/KernelBody.h"
#include "ir/plan/Plan.h"

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace syncline::codegen {

/// A result's dimensions with those merged that every operand walks alike.
struct LoopNest {
  llvm::SmallVector<std::int64_t> extents; ///< outermost first, at least one
  /// By operand (inputs, then results) and loop: elements between neighbours, 0 where it
  /// broadcasts. Innermost ones are 0 or 1.
  std::vector<llvm::SmallVector<std::int64_t>> strides;

  std::int64_t elements() const;
};

LoopNest nestOf(plan::PointwiseOp loop);

/// "i0 * 64 + i1" of loop variables i0, i1, ..; "0" where nothing moves.
std::string indexOf(llvm::ArrayRef<std::int64_t> strides);

/// The C++ type of an operand's elements; empty for one without.
llvm::StringRef elementType(mlir::Value operand);

/// One element: loads of x0, x1, .. from inputs a0, a1, .., the body, stores to results r0, r1, ...
/// `subscript` gives what stands behind an operand's name, inputs before results: "[i]".
std::string element(plan::PointwiseOp loop, const KernelBody &body, llvm::StringRef indent,
                    const std::function<std::string(size_t)> &subscript);

} // namespace syncline::codegen
