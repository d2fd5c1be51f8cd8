// Gradients: what rules of differentiation read and write: the gradients collected so far, and a
// place for new operations.
#pragma once

#include "ir/nn/NN.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace syncline::differentiate {

/// Gradients of one step's values with respect to its loss. Not thread-safe.
///
/// Every operation made through `create` stands at the end of the step and carries `nn.backward`
/// and the `nn.layer` of the operation being differentiated.
class Gradients {
public:
  /// Precondition: the step has one loss.
  Gradients(nn::StepOp step, nn::LossOp loss);

  /// Sets the operation whose rule creates the operations that follow.
  void enter(mlir::Operation *forward) { current = forward; }

  /// Whether `value` depends on a parameter. Other values need no gradient.
  bool wanted(mlir::Value value) const { return active.contains(value); }

  /// The gradient with respect to `value`, with its type; null when no gradient has reached it.
  mlir::Value of(mlir::Value value) const { return gradients.lookup(value); }

  /// Adds to the gradient of `value` at once. `gradient` has the type of `value`, or a type that
  /// `value` broadcasts to and is then summed over the broadcast dimensions. Does nothing for
  /// values that are not wanted.
  void add(mlir::Value value, mlir::Value gradient);

  /// Adds to the gradient of what `slice` reads. Parts that lie side by side wait for each other
  /// and are joined: padded one by one, each would be as large as the whole.
  void addPart(nn::SliceOp slice, mlir::Value gradient);

  /// States that the operation's rule has run, or that it is not needed.
  void leave(mlir::Operation *forward);

  template <typename Op, typename... Args> Op create(Args &&...args) {
    auto op = builder.create<Op>(current->getLoc(), std::forward<Args>(args)...);
    mark(op);
    return op;
  }

  /// Appends a ∘ b, with the type that both broadcast to.
  mlir::Value binary(nn::BinaryKind kind, mlir::Value a, mlir::Value b);

  mlir::Value negate(mlir::Value value);

  /// A scalar constant of `element` type.
  mlir::Value scalar(double value, mlir::Type element);

  /// Appends a reshape of `value` to `type`; returns `value` itself when it has that type already.
  mlir::Value reshape(mlir::Value value, mlir::RankedTensorType type);

  /// Whether `gradient` is the loss's own, the constant one.
  bool isOne(mlir::Value gradient) const { return gradient == seed; }

  /// Removes the constant one where it has no use. Call this after all rules have run.
  void finish();

private:
  /// The gradients of a value's parts, in the order in which they came.
  struct Parts {
    std::optional<std::int64_t> axis; ///< along which they are joined
    std::size_t remaining = 0;        ///< slices that were not left yet
    llvm::SmallVector<std::pair<nn::SliceOp, mlir::Value>> all;
  };

  void findActive(nn::StepOp step);
  Parts &partsOf(mlir::Value value);
  void join(mlir::Value value, const Parts &parts);
  void addRun(mlir::Value value, std::int64_t axis, std::int64_t begin, mlir::ValueRange parts);
  void mark(mlir::Operation *op);
  mlir::Value sumTo(mlir::Value gradient, mlir::RankedTensorType type);

  mlir::OpBuilder builder;
  mlir::Operation *current = nullptr;
  mlir::Value seed;
  llvm::DenseMap<mlir::Value, mlir::Value> gradients;
  llvm::DenseMap<mlir::Value, Parts> allParts; ///< by the value that slices read
  llvm::DenseSet<mlir::Value> active;
};

/// The value's type. Every value of the nn dialect is a ranked tensor.
inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

} // namespace syncline::differentiate
