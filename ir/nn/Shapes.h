// Computes result shapes of nn's operations, for verifiers, import and differentiation.
//
// All functions are pure and thread-safe. A failure returns a reason without a final period, which
// is printed after the operation's name.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <cstdint>

namespace syncline::nn {

using Dims = llvm::SmallVector<std::int64_t, 6>;
using DimsRef = llvm::ArrayRef<std::int64_t>;

/// A spatial window, with one entry for each spatial dimension.
struct WindowRef {
  DimsRef kernel, strides, dilations, padsBegin, padsEnd;
};

/// The number of positions of a window of `kernel` (dilated) in each padded spatial dimension:
/// floor((size + begin + end - dilation·(kernel - 1) - 1) / stride) + 1.
llvm::Expected<Dims> windowPositions(DimsRef spatial, const WindowRef &window);

/// The shape [N, M, positions...] for x [N, C, ...] and w [M, C/groups, ...]. The window's kernel
/// is taken from w.
llvm::Expected<Dims> convShape(DimsRef x, DimsRef w, WindowRef window, std::int64_t groups);

/// The shape [N, C, positions...] for x [N, C, ...].
llvm::Expected<Dims> poolShape(DimsRef x, const WindowRef &window);

/// The shape of numpy's matmul for operands of rank 2 or more, after the transposes.
llvm::Expected<Dims> matmulShape(DimsRef a, bool transposeA, DimsRef b, bool transposeB);

/// The shape to which numpy broadcasts a and b.
llvm::Expected<Dims> broadcastShape(DimsRef a, DimsRef b);

/// The shape of x without `axes`, or with ones in their place. Precondition: axes are in [0, rank).
Dims reducedShape(DimsRef x, DimsRef axes, bool keepDims);

/// The dimensions as text, such as "4x3x224x224"; "scalar" where there are none.
std::string toString(DimsRef dims);

/// The product of the dimensions.
std::int64_t elementCount(DimsRef dims);

} // namespace syncline::nn
