// The elementwise functions of one operand, read from UnaryKinds.inc.
#pragma once

#include "ir/nn/NN.h"

namespace syncline::nn {

/// What the derivative is computed from (NN21).
enum class Reference { operand, result, signOfResult, nothing };

struct UnaryRow {
  UnaryKind kind;
  Reference reference;
  std::optional<double> alpha, beta; ///< defaults, where the function has these numbers

  bool hasDerivative() const { return reference != Reference::nothing; }
  bool refersToResult() const {
    return reference == Reference::result || reference == Reference::signOfResult;
  }
};

llvm::ArrayRef<UnaryRow> unaryRows();
const UnaryRow &rowOf(UnaryKind kind);

} // namespace syncline::nn
