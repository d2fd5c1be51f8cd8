// Matches the bodies that passes/fuse/ScalarBody.cpp builds for sums, ReLU and its gradient.
#include "codegen/step/LoopForms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallBitVector.h"

#include <optional>

using namespace mlir;

namespace syncline::codegen {

namespace {

bool isZero(Value value) { return matchPattern(value, m_PosZeroFloat()); }

/// Whether these are the body's inputs, each once, but for the one in place `without`.
bool areAllInputs(ArrayRef<Value> values, Block &body, std::optional<unsigned> without = {}) {
  llvm::SmallBitVector found(body.getNumArguments());
  if (without)
    found.set(*without);
  for (Value value : values) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || found.test(argument.getArgNumber()))
      return false;
    found.set(argument.getArgNumber());
  }
  return found.all();
}

/// `relation`(a, 0) ? 0 : other
struct ZeroOr {
  Value compared, other;
};

std::optional<ZeroOr> zeroWhere(arith::CmpFPredicate relation, Value value) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  auto compare = select ? select.getCondition().getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
  if (!compare || compare.getPredicate() != relation || !isZero(compare.getRhs()) ||
      !isZero(select.getTrueValue()))
    return std::nullopt;
  return ZeroOr{compare.getLhs(), select.getFalseValue()};
}

} // namespace

FoundForm loopFormOf(plan::PointwiseOp loop) {
  const auto isFloat = [](Value operand) {
    return cast<MemRefType>(operand.getType()).getElementType().isF32();
  };
  Block &body = loop.getBody().front();
  if (!loop.getFlat() || loop.getOuts().size() != 1 || !llvm::all_of(loop.getOperands(), isFloat))
    return {};
  const Value result = body.getTerminator()->getOperand(0);
  const auto isSum = [&](Value value, std::optional<unsigned> without = {}) {
    auto add = value.getDefiningOp<arith::AddFOp>();
    return add && areAllInputs({add.getLhs(), add.getRhs()}, body, without);
  };
  if (isSum(result))
    return {"sum"};
  if (auto relu = zeroWhere(arith::CmpFPredicate::OLT, result))
    return relu->compared == relu->other && isSum(relu->other) ? FoundForm{"sumRelu"} : FoundForm{};
  auto gradient = zeroWhere(arith::CmpFPredicate::OLE, result);
  auto gate = gradient ? dyn_cast<BlockArgument>(gradient->compared) : BlockArgument();
  if (!gate)
    return {};
  const unsigned place = gate.getArgNumber();
  if (isSum(gradient->other, place) || areAllInputs({gradient->other}, body, place))
    return {"reluGradient", place};
  return {};
}

} // namespace syncline::codegen
