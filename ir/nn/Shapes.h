// Result shapes of nn's operations, shared by verifiers, import and differentiation.
//
// All functions are pure and thread-safe. A failure returns a reason without a final period, to be
// put after the operation's name.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <cstdint>

namespace syncline::nn {

using Dims = llvm::SmallVector<std::int64_t, 6>;
using DimsRef = llvm::ArrayRef<std::int64_t>;

/// Spatial window; one entry per spatial dimension.
struct WindowRef {
  DimsRef kernel, strides, dilations, padsBegin, padsEnd;
};

/// Number of positions of a window of `kernel` (dilated) in each padded spatial dimension:
/// floor((size + begin + end - dilation·(kernel - 1) - 1) / stride) + 1.
llvm::Expected<Dims> windowPositions(DimsRef spatial, const WindowRef &window);

/// [N, M, positions...] for x [N, C, ...] and w [M, C/groups, ...]; the window's kernel is w's.
llvm::Expected<Dims> convShape(DimsRef x, DimsRef w, WindowRef window, std::int64_t groups);

/// [N, C, positions...].
llvm::Expected<Dims> poolShape(DimsRef x, const WindowRef &window);

/// numpy's matmul for operands of rank 2 or more, after the transposes.
llvm::Expected<Dims> matmulShape(DimsRef a, bool transposeA, DimsRef b, bool transposeB);

/// numpy's broadcasting.
llvm::Expected<Dims> broadcastShape(DimsRef a, DimsRef b);

/// x without `axes`, or with ones in their place. Axes are in [0, rank).
Dims reducedShape(DimsRef x, DimsRef axes, bool keepDims);

/// "4x3x224x224"; "scalar" for no dimensions.
std::string toString(DimsRef dims);

/// Product of the dimensions.
std::int64_t elementCount(DimsRef dims);

} // namespace syncline::nn
