// Takes a fused loop apart into the kernels that eager frameworks run.
#include "passes/cost/StepKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace syncline::cost {
namespace {

double elements(Value value) {
  double product = 1;
  for (std::int64_t size : cast<ShapedType>(value.getType()).getShape())
    product *= static_cast<double>(size);
  return product;
}

/// Values that kernels write: the loop's operands, and what is computed from several of them. All
/// other values of the body are computed from one of these, by the kernel that reads it.
class Unfused {
public:
  Unfused(nn::PointwiseOp op, double width)
      : op(op), width(width), all(elements(op.getOutputs().front())) {}

  std::vector<Kernel> kernels() {
    Block &body = op.getBody().front();
    for (BlockArgument argument : body.getArguments())
      stored[argument].insert(argument);
    for (Operation &inner : body.without_terminator())
      if (!isa<arith::ConstantOp>(inner))
        visit(inner);
    for (Value value : body.getTerminator()->getOperands())
      write(value);
    return std::move(found);
  }

private:
  using Roots = llvm::SmallSetVector<Value, 4>;

  void visit(Operation &inner) {
    Roots roots;
    for (Value operand : inner.getOperands())
      roots.insert(stored[operand].begin(), stored[operand].end());
    const bool isFlag =
        llvm::all_of(inner.getResultTypes(), [](Type type) { return type.isInteger(1); });
    for (Value result : inner.getResults()) {
      stored[result] = roots;
      if (roots.size() > 1 && !isFlag)
        write(result);
    }
  }

  /// A kernel that reads what `value` is computed from, and writes it.
  void write(Value value) {
    const Roots roots = stored[value];
    if (roots.size() == 1 && roots[0] == value)
      return; // it is there
    double read = 0;
    for (Value root : roots)
      read += isa<BlockArgument>(root)
                  ? elements(op.getInputs()[cast<BlockArgument>(root).getArgNumber()])
                  : all;
    found.push_back({.kind = KernelClass::pointwise, .bytes = (read + all) * width});
    stored[value] = Roots();
    stored[value].insert(value);
  }

  nn::PointwiseOp op;
  const double width, all;
  llvm::DenseMap<Value, Roots> stored; ///< by value, those that it is computed from
  std::vector<Kernel> found;
};

} // namespace

std::vector<Kernel> pointwiseKernels(nn::PointwiseOp op, const KernelStyle &style) {
  if (op.getOutputs().empty())
    return {};
  if (!style.isFused)
    return Unfused(op, style.width()).kernels();
  double moved = 0;
  for (Value value : op->getOperands())
    moved += elements(value);
  for (Value value : op->getResults())
    moved += elements(value);
  return {{.kind = KernelClass::pointwise, .bytes = moved * style.width()}};
}

} // namespace syncline::cost
