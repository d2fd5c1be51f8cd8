// Propagating NaN as PyTorch does, where oneDNN's kernels lose it: their ReLU gives 0 for NaN, and
// their max pooling ignores NaN. Each function appends commands to the operation being prepared.
#pragma once

#include "runtime/cpu/Preparation.h"

#include <unordered_map>

namespace syncline::cpu {

using Arguments = std::unordered_map<int, dnnl::memory>;

/// y = max(y, 0) in place; NaN stays NaN. y is f32 or bf16 in any layout whose padding is 0, and
/// the operation's kernel has just written it.
void appendRelu(Preparation &p, const dnnl::memory &y);

/// Repairs the result of a max pooling: a window of x that holds NaN gets NaN as its maximum and
/// the position of its last NaN in the workspace. Without NaN the cost is one pass over x.
void appendNanMaxima(Preparation &p, const Window &window, const dnnl::memory &x,
                     const dnnl::memory &y, const dnnl::memory &workspace);

/// Repairs the result of a batch normalization with ReLU, given its operands. A channel has NaN
/// only where its mean, variance, scale or shift is not finite, so that otherwise the cost is a
/// check of these values.
void appendNanNormalization(Preparation &p, float epsilon, Arguments operands);

/// Repairs the backward of a batch normalization with ReLU, whose mask would drop gradients of NaN
/// elements: the gradient of such a channel's shift is the sum of all of dy.
void appendNanShiftGradient(Preparation &p, const Arguments &operands);

} // namespace syncline::cpu
