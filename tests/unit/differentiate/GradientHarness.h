// Checks derivatives: differentiate, interpret, and compare with central differences of the loss.
#pragma once

#include "tests/reference/Interpreter.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <random>
#include <string>

namespace syncline::test {

/// "2x3xf64" as a tensor type's text.
std::string type(nn::DimsRef shape);

/// `%x = nn.parameter "x" ...`. Values are drawn from [-1, 1); from [0.5, 1.5) for names that start
/// with "positive"; from multiples of 1/8, all different, for names that start with "distinct".
std::string parameter(llvm::StringRef name, nn::DimsRef shape);

/// array<i64: 1, 2>
std::string array(nn::DimsRef values);

/// Expects that the derivative of the step made of `body`, which defines %y of shape `result`, with
/// the mean squared error of %y as loss, is right for every element of every parameter; and that
/// fusion changes no gradient.
void expectRightGradients(const std::string &body, nn::DimsRef result);

/// Same for a whole step's text.
void expectRightGradientsOfStep(const std::string &step);

/// The module around one step, parsed; null after a test failure.
mlir::OwningOpRef<mlir::ModuleOp> parseStep(mlir::MLIRContext &context, const std::string &text);

/// A context with everything that steps need.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// Random shape of `rank` dimensions of 1 to `limit`.
nn::Dims randomShape(std::mt19937 &random, std::size_t rank, int limit = 4);

} // namespace syncline::test
