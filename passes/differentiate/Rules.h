// Attaches rules of differentiation to operations.
#pragma once

#include "passes/differentiate/Gradients.h"

#include "passes/differentiate/DifferentiableOpInterface.h.inc"

namespace mlir {
class DialectRegistry;
}

namespace syncline::differentiate {

/// Makes the operations of nn differentiable in every context that `registry` is given to.
void registerDifferentiationRules(mlir::DialectRegistry &registry);

/// A rule as a plain function of the operation.
template <typename Op, llvm::LogicalResult (*rule)(Op, Gradients &)>
struct RuleModel : DifferentiableOpInterface::ExternalModel<RuleModel<Op, rule>, Op> {
  llvm::LogicalResult differentiate(mlir::Operation *op, Gradients &gradients) const {
    return rule(mlir::cast<Op>(op), gradients);
  }
};

template <typename Op, llvm::LogicalResult (*rule)(Op, Gradients &)>
void attachRule(mlir::MLIRContext *context) {
  Op::template attachInterface<RuleModel<Op, rule>>(*context);
}

// Each file of rules has one function that attaches them.
void attachIndexRules(mlir::MLIRContext *context);
void attachLinearRules(mlir::MLIRContext *context);
void attachLossRules(mlir::MLIRContext *context);
void attachNormalizationRules(mlir::MLIRContext *context);
void attachPointwiseRules(mlir::MLIRContext *context);
void attachPoolRules(mlir::MLIRContext *context);
void attachRecurrentRules(mlir::MLIRContext *context);
void attachShapeRules(mlir::MLIRContext *context);

} // namespace syncline::differentiate
