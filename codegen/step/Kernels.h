// The generated loops of a step, each distinct one written once.
#pragma once

#include "codegen/step/Names.h"
#include "codegen/step/StepTarget.h"

#include <map>
#include <string>
#include <vector>

namespace syncline::codegen {

class Kernels {
public:
  Kernels(Names &names, const StepTarget &target) : names(names), target(target) {}

  /// Expressions that name a loop's kernels in a call of the builder.
  struct Expressions {
    std::string kernel;  ///< "&split<addRelu1>"
    std::string rounded; ///< for PointwiseInfo::rounded; empty for none
  };
  /// Fails with a diagnostic where the body or an element type has no C++ (nor CUDA).
  mlir::FailureOr<Expressions> expressionsOf(plan::PointwiseOp loop);

  /// Definitions in order of first use, blank lines between.
  const std::vector<std::string> &definitions() const { return texts; }
  bool usesExtrema() const { return extrema; }

private:
  Names &names;
  const StepTarget &target;
  std::map<std::string, std::string> known; ///< definition → name
  std::vector<std::string> texts;
  bool extrema = false;
};

} // namespace syncline::codegen
