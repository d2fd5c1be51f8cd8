// C++ names for tensors and kernels: short, readable, unique.
#pragma once

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace syncline::codegen {

class Names {
public:
  /// `wanted` with everything that is no letter or digit as underscore, behind `prefix`; a number
  /// is appended where that is taken, reserved or a keyword.
  std::string unique(llvm::StringRef prefix, llvm::StringRef wanted);
  /// Makes a name unavailable.
  void reserve(llvm::StringRef name) { taken.insert(name); }

private:
  llvm::StringSet<> taken;
  llvm::StringMap<unsigned> numbers; ///< by what a name is made of: the next to try
};

} // namespace syncline::codegen
