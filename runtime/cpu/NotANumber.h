// NaN in, NaN out, as in PyTorch, where oneDNN's kernels put a number in its place: its ReLU gives
// 0, its max pooling leaves NaN out. Each function appends to the operation being prepared.
#pragma once

#include "runtime/cpu/Preparation.h"

#include <unordered_map>

namespace syncline::cpu {

using Arguments = std::unordered_map<int, dnnl::memory>;

/// y = max(y, 0) in place, f32 or bf16 in any layout whose padding is 0; NaN stays. The operation's
/// kernel has just written y.
void appendRelu(Preparation &p, const dnnl::memory &y);

/// Behind a max pooling: windows of x that hold NaN have NaN as maximum and, in the workspace, the
/// last NaN's tap. Costs one look at x where there is none.
void appendNanMaxima(Preparation &p, const Window &window, const dnnl::memory &x,
                     const dnnl::memory &y, const dnnl::memory &workspace);

/// Behind a batch normalization with ReLU, of the same operands: a channel gives NaN only where its
/// mean, variance, scale or shift is not finite, so that a look at these is all it costs otherwise.
void appendNanNormalization(Preparation &p, float epsilon, Arguments operands);

/// Behind its backward, whose mask drops what NaN lets through: the gradient of such a channel's
/// shift is the sum of all of dy.
void appendNanShiftGradient(Preparation &p, const Arguments &operands);

} // namespace syncline::cpu
