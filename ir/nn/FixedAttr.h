// The discardable attribute `nn.fixed` of nn.state.
#pragma once

#include "ir/nn/NN.h"

namespace syncline::nn {

/// A unit: the state is a constant whose values are too many for the IR. They are the plan's own,
/// not the model's, and nothing changes them.
inline constexpr llvm::StringLiteral fixedAttr = "nn.fixed";

inline bool isFixed(StateOp state) { return state->hasAttr(fixedAttr); }

} // namespace syncline::nn
