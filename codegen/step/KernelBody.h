// Prints a loop body's scalar operations as C++ statements.
#pragma once

#include "ir/plan/Plan.h"

#include <string>
#include <vector>

namespace syncline::codegen {

struct KernelBody {
  std::vector<std::string> statements; ///< "const float v0 = x0 + x1;"
  std::vector<std::string> results;    ///< an expression for each yielded value
  std::string summary;                 ///< the operations' names: "addf, maximumf"
  bool usesExtrema = false;            ///< calls maximum() or minimum() of the step's prelude
};

/// Prints the operations of arith and math on scalars. Arguments are named x0, x1, ... . Fails with
/// a diagnostic on any other operation and on types that C++20 does not have.
mlir::FailureOr<KernelBody> printBody(plan::PointwiseOp loop);

} // namespace syncline::codegen
