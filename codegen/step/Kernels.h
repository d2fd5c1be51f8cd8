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

  /// The name of the loop's place in the table of loops. Fails with a diagnostic where C++ or CUDA
  /// has no equivalent of the body or of an element type.
  mlir::FailureOr<std::string> nameOf(plan::PointwiseOp loop);

  /// Definitions in order of first use, with blank lines between them.
  const std::vector<std::string> &definitions() const { return texts; }
  /// Rows of the table, such as "{&split<addRelu>, nullptr},", and the names of their places.
  const std::vector<std::string> &rows() const { return tableRows; }
  const std::vector<std::string> &rowNames() const { return tableNames; }
  bool usesExtrema() const { return extrema; }

private:
  Names &names;
  const StepTarget &target;
  std::map<std::string, std::string> known;     ///< definition → name
  std::map<std::string, std::string> knownRows; ///< row → name of its place
  std::vector<std::string> texts, tableRows, tableNames;
  bool extrema = false;
};

} // namespace syncline::codegen
