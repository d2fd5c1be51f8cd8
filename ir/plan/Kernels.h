// The compiler's view of the runtime's kernel table, syncline/Kernels.inc.
#pragma once

#include "ir/plan/Plan.h"

#include <string>
#include <vector>

namespace syncline::plan {

/// What a kernel takes at one place, as the types of syncline/Kernels.inc say.
enum class ParameterKind {
  in,
  optionalIn,
  inList, ///< any number of operands that have one name, at least one
  out,
  optionalOut,
  skippableOut, ///< a call lacks it where nothing reads it; the nn operation always has it
  window,       ///< all attributes of a window
  activation,
  reduction,
  flag,
  integer,
  sizes,
  real,
};

struct Parameter {
  ParameterKind kind;
  std::string name; ///< of the operand or the attribute

  bool isOptional() const {
    return kind == ParameterKind::optionalIn || kind == ParameterKind::optionalOut ||
           kind == ParameterKind::skippableOut;
  }
};

struct KernelRow {
  Kernel kernel;
  std::string operation; ///< the nn operation that becomes the kernel: "nn.max_pool"
  /// Operations for each element of the first operand; nothing where passes/cost has a formula.
  std::optional<double> flops;
  bool isMove;                       ///< the kernel only moves elements
  std::vector<Parameter> parameters; ///< in the order of the step builder's method
  std::vector<Parameter> ins, outs;  ///< the operands, in the nn operation's order
};

const KernelRow &rowOf(Kernel kernel);

/// Null for an operation that no kernel carries out. `operation` is a name such as "nn.max_pool".
const KernelRow *findRow(llvm::StringRef operation);

} // namespace syncline::plan
