// The kernel of an nn operation, by the table of syncline/Kernels.inc.
#include "passes/lower/Kernels.h"

#include "ir/plan/Kernels.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace syncline::lower {

/// Takes the first names, since optional operands and results come last.
static llvm::SmallVector<llvm::StringRef> names(llvm::ArrayRef<plan::Parameter> operands,
                                                unsigned count) {
  llvm::SmallVector<llvm::StringRef> result;
  if (operands.size() == 1 && operands.front().kind == plan::ParameterKind::inList)
    result.assign(count, operands.front().name);
  else
    for (const plan::Parameter &operand : operands.take_front(count))
      result.push_back(operand.name);
  return result;
}

std::optional<KernelUse> kernelOf(Operation *op) {
  const plan::KernelRow *row = plan::findRow(op->getName().getStringRef());
  if (!row)
    return std::nullopt;
  return KernelUse{row->kernel, names(row->ins, op->getNumOperands()),
                   names(row->outs, op->getNumResults())};
}

bool keepsZero(nn::PointwiseOp op) {
  Block &body = op.getBody().front();
  llvm::DenseMap<Value, Attribute> known;
  Builder builder(op.getContext());
  for (Value argument : body.getArguments())
    known[argument] = builder.getZeroAttr(argument.getType());
  for (Operation &inner : body.without_terminator()) {
    llvm::SmallVector<OpFoldResult> folded;
    // The first attempt may only move a constant operand to the last place.
    for (int attempt = 0; attempt < 2 && folded.empty(); ++attempt) {
      llvm::SmallVector<Attribute> operands;
      for (Value operand : inner.getOperands())
        operands.push_back(known.lookup(operand));
      if (failed(inner.fold(operands, folded)))
        break;
    }
    if (folded.size() != inner.getNumResults())
      continue;
    for (auto [result, value] : llvm::zip(inner.getResults(), folded))
      known[result] =
          isa<Attribute>(value) ? cast<Attribute>(value) : known.lookup(cast<Value>(value));
  }
  return llvm::all_of(body.getTerminator()->getOperands(), [&](Value yielded) {
    Attribute value = known.lookup(yielded);
    return value && (matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero()));
  });
}

} // namespace syncline::lower
