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

} // namespace syncline::cpu
