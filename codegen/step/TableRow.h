// The text of an operation's row and of the rows that continue it.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace syncline::codegen {

/// A Row of syncline/StepTables.h, each element as C++ text.
struct TableRow {
  TableRow(llvm::StringRef op, llvm::StringRef layer) : op(op), layer(layer) {}

  std::string op; ///< an enumerator of Op
  std::string layer;
  std::vector<std::string> operands, numbers, reals;

  /// The row, such as "{Op::matmul, "fc", {x, w, 0, y}, {false, true, false}},", without arrays
  /// that are empty at the end. Each row of Op::more that it takes follows on a line of its own.
  std::string text() const;
};

} // namespace syncline::codegen
