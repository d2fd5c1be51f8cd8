// Batch normalization in the layout of its input. oneDNN adds up a channel in one float: over the
// 100,000 elements of a layer that loses a hundred times what PyTorch's sums in double lose.
#pragma once

#include "runtime/cpu/Channels.h"

namespace syncline::cpu {

/// The values of each channel.
struct ChannelValues {
  const float *scale, *shift;
  float *mean, *variance; ///< of the batch, biased; written by normalize() and then read
};

/// One normalization, with or without ReLU behind it, which NaN passes. T is float, or
/// std::uint16_t for bf16.
template <typename T> struct Normalization {
  Channels view;
  std::int64_t channels;
  double epsilon;
  bool relu;
  const T *x;
};

/// y = scale·(x - mean)/sqrt(variance + epsilon) + shift, with sums in double in one pass.
template <typename T> void normalize(const Normalization<T> &of, const ChannelValues &values, T *y);

/// As normalize(), with `mean` and `variance` as they are: inference by running statistics.
template <typename T>
void normalizeBy(const Normalization<T> &of, const ChannelValues &statistics, T *y);

/// dscale = Σ dy·x̂, dshift = Σ dy, dx = scale/σ·(dy - dshift/n - x̂·dscale/n), where
/// x̂ = (x - mean)/σ and σ² = variance + epsilon. Null results are left out. What the ReLU let
/// through is computed again from x, which is quicker than to read a mask.
template <typename T>
void normalizeBackward(const Normalization<T> &of, const ChannelValues &values, const T *dy, T *dx,
                       float *dscale, float *dshift);

} // namespace syncline::cpu
