// The differences between the languages in which a step is written.
#pragma once

#include "codegen/step/KernelBody.h"
#include "ir/plan/Plan.h"
#include "syncline/Status.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace syncline::codegen {

/// A generated loop. '$' stands for its name.
struct LoopText {
  std::string definition;   ///< equal definitions are written once
  std::string kernel;       ///< the PointwiseKernel in a call of the builder: "&split<$>"
  std::string rounded = {}; ///< the kernel for PointwiseInfo::rounded; empty for none
  std::string form = {};    ///< PointwiseInfo::form and gate: "LoopForm::sum, 0"; empty for none
};

/// A backend's language and compiler. All members are constant; any thread may use them.
struct StepTarget {
  llvm::StringRef backend;  ///< as in --backend, plan.json and synclineStepBackend()
  llvm::StringRef fileName; ///< the text's name in a plan folder
  bool usesNccl;            ///< whether NCCL carries its messages, not Syncline's own transport

  llvm::StringRef includes;    ///< lines after the include of Step.h
  llvm::StringRef enclosing;   ///< the namespace around everything generated; "" for an unnamed one
  llvm::StringRef loopPrelude; ///< text before the loops, where there are any
  llvm::StringRef inLoops;     ///< specifier of a function that loops call: "inline"
  llvm::StringRef buildPrelude;             ///< text before the code that runs once
  llvm::ArrayRef<llvm::StringRef> reserved; ///< names that the preludes and loops use

  /// Precondition: the operands' element types have a C++ type.
  LoopText (*writeLoop)(plan::PointwiseOp loop, const codegen::KernelBody &body);

  /// Compiles `source` into `object`, a shared library, against the runtime's headers in
  /// `includeDirectory`. The object appears complete or not at all, and depends on nothing but the
  /// source and the compiler. Temporary files lie in `object`'s folder. Errors: badInput when there
  /// is no compiler, when it compiles nothing at all, or where there is no place to write; internal
  /// when it rejects the source, with its messages, shortened.
  Status (*compile)(const std::string &source, const std::string &object,
                    const std::string &includeDirectory);

  /// Errors: badInput where compile() would find no compiler, naming what to install.
  Status (*findCompiler)();
};

/// All targets, the default first.
llvm::ArrayRef<const StepTarget *> stepTargets();

/// The target of a backend; null where no backend has this name.
const StepTarget *findTarget(llvm::StringRef backend);

} // namespace syncline::codegen
