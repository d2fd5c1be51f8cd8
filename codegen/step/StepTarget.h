// What differs between the languages that a step is written in.
#pragma once

#include "codegen/step/KernelBody.h"
#include "ir/plan/Plan.h"
#include "syncline/Status.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace syncline {

/// A generated loop; '$' is where its name goes.
struct LoopText {
  std::string definition;   ///< equal definitions are one
  std::string kernel;       ///< names the PointwiseKernel in a call of the builder: "&split<$>"
  std::string rounded = {}; ///< the same for PointwiseInfo::rounded; empty for none
};

/// A backend's language and compiler. Everything is constant; may be used from any thread.
struct StepTarget {
  llvm::StringRef backend;  ///< as in --backend, plan.json and synclineStepBackend()
  llvm::StringRef fileName; ///< of the text in a plan folder
  bool usesNccl;            ///< who carries its messages, in place of Syncline's own transport

  llvm::StringRef includes;    ///< lines behind Step.h's
  llvm::StringRef enclosing;   ///< the namespace around everything generated; "" for an unnamed one
  llvm::StringRef loopPrelude; ///< in front of the loops, where there are any
  llvm::StringRef inLoops;     ///< specifies a function that loops call: "inline"
  llvm::StringRef buildPrelude;             ///< in front of what runs once, before the first step
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
};

/// All there are, the default first.
llvm::ArrayRef<const StepTarget *> stepTargets();

/// The target of a backend; null where there is none of this name.
const StepTarget *findTarget(llvm::StringRef backend);

} // namespace syncline
