// The generated loops of a step, each distinct one written once.
#pragma once

#include "codegen/cpp/KernelBody.h"
#include "codegen/cpp/Names.h"

#include <map>
#include <string>
#include <vector>

namespace syncline::codegen {

class Kernels {
public:
  explicit Kernels(Names &names) : names(names) {}

  /// The expression that names the loop's kernel in a call of the builder: "&split<addRelu1>".
  /// Fails with a diagnostic where the body or an element type has no C++.
  mlir::FailureOr<std::string> expressionOf(plan::PointwiseOp loop);

  /// Definitions in order of first use, blank lines between.
  const std::vector<std::string> &definitions() const { return texts; }
  bool usesExtrema() const { return extrema; }

private:
  Names &names;
  std::map<std::string, std::string> known; ///< body of the function → expression
  std::vector<std::string> texts;
  bool extrema = false;
};

} // namespace syncline::codegen
