// Convolutions by kernels of one element: products of matrices for each pixel. oneDNN adds up all
// channels in one float, one after the other. Over hundreds of channels that is most of what
// rounding does to the gradients of networks that consist of such layers.
#pragma once

#include "runtime/cpu/Layout.h"

#include <cstdint>
#include <optional>

namespace syncline::cpu {

/// y = w·x + bias at every pixel, with channels in blocks of 16 (w: 16 inputs of 16 outputs each).
/// Channels that fill up the last block are 0 in x, w and y.
///
/// Channels are added up in parts: two sums of 16 channels each, the even and the odd ones of 32,
/// then the sum of these sums. The bits do not depend on the number of threads.
class BlockedConvolution {
public:
  /// Nothing where the processor lacks AVX-512, or for other layouts or types. The convolution
  /// itself must have one group, no padding and strides of 1.
  static std::optional<BlockedConvolution> of(const Layout &x, const Layout &w, const Layout &y);

  /// Computes y on the calling thread's OpenMP threads. A null bias is left out.
  void run(const float *x, const float *w, const float *bias, float *y) const;

private:
  std::int64_t samples, pixels, outputs, inBlocks, outBlocks;
};

} // namespace syncline::cpu
