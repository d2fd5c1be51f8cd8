// Gradients of tied weights: the sum of an embedding's rows and of another gradient.
#pragma once

#include "ir/nn/NN.h"
#include "ir/sync/Sync.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>

namespace syncline::cost {

/// The sum that is the gradient of a table which an embedding and one more operation read, as in
/// models that compute their logits by the table of their words. By linearity its two operands may
/// travel apart: the other operation's as a dense gradient, which is ready early in the backward
/// pass, and the embedding's as rows, which are ready at its end.
struct TiedGradient {
  nn::PointwiseOp sum;
  mlir::OpOperand *dense = nullptr; ///< of the sum
  mlir::OpOperand *rows = nullptr;  ///< of the sum: what nn.embedding_backward gives, or its mean
};

/// The tied gradient of an update, whether its parts are synchronised already or not. Nothing where
/// the gradient is no flat sum of exactly two operands; where not exactly one of them is made of an
/// embedding's rows; where an operand has another reader; or where the rows do not come last.
std::optional<TiedGradient> tiedGradientOf(nn::UpdateOp update);

/// The name under which the rows of this parameter's gradient travel.
std::string rowsNameOf(llvm::StringRef parameter);

/// The `sync.gradient` operations that the update's gradient comes from: one, or the two parts of a
/// tied gradient with the rows behind the dense part; none where there are none yet.
llvm::SmallVector<sync::GradientOp, 2> synchronisedBy(nn::UpdateOp update);

} // namespace syncline::cost
