// Compiles a generated step into the shared object that the runtime loads.
#pragma once

#include "syncline/Status.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace syncline::codegen {

/// A compiler, and how it makes a shared library of one source.
struct Compiler {
  llvm::StringRef language;                   ///< for messages: "C++"
  llvm::StringRef variable;                   ///< environment variable that names the command
  llvm::ArrayRef<llvm::StringRef> candidates; ///< names or paths, where the variable is unset
  llvm::ArrayRef<llvm::StringRef> options;    ///< all but include folder, output and source
  llvm::StringRef extension;                  ///< of sources: ".cpp"
};

/// Searches as StepTarget::findCompiler says.
Status findCompiler(const Compiler &compiler);

/// Compiles as StepTarget::compile says.
Status runCompiler(const Compiler &compiler, const std::string &source, const std::string &object,
                   const std::string &includeDirectory);

} // namespace syncline::codegen
