// One line of generated code for each operation of a plan.
#pragma once

#include "codegen/step/Kernels.h"
#include "codegen/step/Windows.h"

#include "llvm/ADT/DenseMap.h"

#include <string>

namespace syncline::codegen {

class StepOps {
public:
  StepOps(Names &names, Kernels &kernels, Windows &windows)
      : names(names), kernels(kernels), windows(windows) {}

  /// Gives the tensor its variable and writes its declaration.
  std::string declare(plan::TensorOp tensor);
  std::string declare(plan::BucketOp bucket);

  /// The statement for an operation that executes or a phase. Fails with a diagnostic where an
  /// operand is missing or a loop has no C++.
  mlir::FailureOr<std::string> statement(mlir::Operation *op);

private:
  mlir::FailureOr<std::string> call(plan::CallOp op);
  mlir::FailureOr<std::string> loop(plan::PointwiseOp op);
  /// "std::array{a, b}".
  std::string list(mlir::ValueRange tensors) const;

  Names &names;
  Kernels &kernels;
  Windows &windows;
  llvm::DenseMap<mlir::Value, std::string> variables;
};

} // namespace syncline::codegen
