// The interpreter's inside: values of one run, and one evaluator an operation.
#pragma once

#include "tests/reference/Interpreter.h"

namespace syncline::reference {

class Values {
public:
  const Tensor &operator[](mlir::Value value) const {
    auto found = tensors.find(value);
    assert(found != tensors.end() && "operands come before results");
    return found->second;
  }
  /// A zero tensor of the value's shape, to be filled.
  Tensor make(mlir::Value value) const {
    return Tensor(mlir::cast<mlir::RankedTensorType>(value.getType()).getShape());
  }
  void set(mlir::Value value, Tensor tensor) {
    if (value)
      tensors[value] = std::move(tensor);
  }

private:
  llvm::DenseMap<mlir::Value, Tensor> tensors;
};

/// Each returns whether `op` was one of its operations; if so, its results are set.
bool evaluateIndex(mlir::Operation *op, Values &values);
bool evaluateLinear(mlir::Operation *op, Values &values);
bool evaluateNormalization(mlir::Operation *op, Values &values, Bindings &states);
bool evaluatePool(mlir::Operation *op, Values &values);
bool evaluatePointwise(mlir::Operation *op, Values &values);
bool evaluateResample(mlir::Operation *op, Values &values);
bool evaluateRecurrent(mlir::Operation *op, Values &values);
bool evaluateShape(mlir::Operation *op, Values &values);
bool evaluateLoss(mlir::Operation *op, Values &values);

} // namespace syncline::reference
