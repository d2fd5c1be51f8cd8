// Convolutions by kernels of one element: products of matrices for each pixel. oneDNN adds up all
// channels in one float, one after the other. Over hundreds of channels that is most of what
// rounding does to the gradients of networks that consist of such layers.
#pragma once

#include "runtime/cpu/Layout.h"

#include <cstdint>
#include <optional>

namespace syncline::cpu {

/// The vectors of a processor that such a convolution is computed by: 8 floats by AVX2, or 16 by
/// AVX-512. Channels lie in blocks of one vector.
enum class Vectors { avx2, avx512 };

/// Whether this processor has them and SYNCLINE_MAX_CPU_ISA allows them.
bool hasVectors(Vectors vectors);

/// y = w·x + bias at every pixel, with channels in blocks of one vector (w: a vector of outputs for
/// each input of a block). Channels that fill up the last block are 0 in x, w and y.
///
/// Channels are added up in parts: two sums of 16 channels each, the even and the odd ones of 32,
/// then the sum of these sums. The bits depend neither on the vectors nor on the number of threads.
class BlockedConvolution {
public:
  /// Nothing for other layouts or types, or where the processor lacks the vectors. The convolution
  /// itself must have one group, no padding and strides of 1.
  static std::optional<BlockedConvolution> of(Vectors vectors, const Layout &x, const Layout &w,
                                              const Layout &y);
  /// The vectors are those of oneDNN's kernels, which a cap can narrow (InstructionSets.h).
  static std::optional<BlockedConvolution> of(const Layout &x, const Layout &w, const Layout &y);

  /// Computes y on the calling thread's OpenMP threads. A null bias is left out.
  void run(const float *x, const float *w, const float *bias, float *y) const;

private:
  Vectors vectors;
  std::int64_t samples, pixels, outputs, inBlocks, outBlocks;
};

} // namespace syncline::cpu
