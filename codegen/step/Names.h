// Chooses short, readable, unique C++ names for tensors and kernels.
#pragma once

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace syncline::codegen {

class Names {
public:
  /// `prefix`, then `wanted` with an underscore for everything that is not a letter or digit. A
  /// number is appended where that name is taken, reserved or a keyword.
  std::string unique(llvm::StringRef prefix, llvm::StringRef wanted);
  /// Makes a name unavailable.
  void reserve(llvm::StringRef name) { taken.insert(name); }

private:
  llvm::StringSet<> taken;
  llvm::StringMap<unsigned> numbers; ///< by base name: the next number to try
};

} // namespace syncline::codegen
