// One row of generated tables for each operation of a plan.
#pragma once

#include "codegen/step/Kernels.h"
#include "codegen/step/Windows.h"
#include "ir/plan/Kernels.h"

#include "llvm/ADT/DenseMap.h"

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

class StepOps {
public:
  StepOps(Names &names, Kernels &kernels, Windows &windows)
      : names(names), kernels(kernels), windows(windows) {}

  /// Gives the tensor its name and returns its row.
  std::string declare(plan::TensorOp tensor);
  std::string declare(plan::BucketOp bucket);

  /// The row for a phase or an operation that executes, and the rows that continue it, each on a
  /// line. Fails with a diagnostic where an operand is missing or a loop has no C++.
  mlir::FailureOr<std::string> row(mlir::Operation *op);

  /// Names of the tensors, in order of declaration.
  const std::vector<std::string> &tensorNames() const { return declared; }

private:
  mlir::FailureOr<std::string> loop(plan::PointwiseOp op);
  std::vector<std::string> namesOf(mlir::ValueRange tensors) const;
  /// Names of the call's operands that have the role.
  std::vector<std::string> namesOf(plan::CallOp call, llvm::StringRef role) const;
  void append(TableRow &row, plan::CallOp call, const plan::Parameter &parameter);

  Names &names;
  Kernels &kernels;
  Windows &windows;
  llvm::DenseMap<mlir::Value, std::string> nameOf;
  std::vector<std::string> declared;
};

} // namespace syncline::codegen
