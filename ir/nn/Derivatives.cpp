// Operands and results without a derivative, by operation.
#include "ir/nn/Derivatives.h"

#include "ir/nn/NN.h"
#include "ir/nn/UnaryKinds.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace syncline;
using namespace syncline::nn;

bool nn::hasDerivative(OpOperand &operand) {
  if (auto unary = dyn_cast<UnaryOp>(operand.getOwner()))
    return rowOf(unary.getKind()).hasDerivative();
  if (isa<GatherRowsOp, ScatterRowsOp>(operand.getOwner())) // by indices
    return operand.getOperandNumber() != 1;
  auto binary = dyn_cast<BinaryOp>(operand.getOwner());
  if (!binary)
    return true;
  switch (binary.getKind()) {
  case BinaryKind::mask:
    return operand.getOperandNumber() != 1;
  case BinaryKind::tie_share:
  case BinaryKind::not_less:
    return false;
  case BinaryKind::add:
  case BinaryKind::sub:
  case BinaryKind::mul:
  case BinaryKind::div:
  case BinaryKind::prelu:
  case BinaryKind::max:
  case BinaryKind::min:
    return true;
  }
  llvm_unreachable("all kinds are listed");
}

bool nn::hasDerivative(OpResult result) {
  return isa<FloatType>(getElementTypeOrSelf(result.getType())) &&
         !(isa<TopKOp>(result.getOwner()) && result.getResultNumber() != 0);
}
