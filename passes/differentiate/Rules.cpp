// Registers all rules of differentiation.
#include "passes/differentiate/Rules.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"

#include "passes/differentiate/DifferentiableOpInterface.cpp.inc"

void syncline::differentiate::registerDifferentiationRules(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](mlir::MLIRContext *context, nn::NNDialect *) {
    attachIndexRules(context);
    attachLinearRules(context);
    attachLossRules(context);
    attachNormalizationRules(context);
    attachPointwiseRules(context);
    attachPoolRules(context);
    attachRecurrentRules(context);
    attachShapeRules(context);
  });
}
