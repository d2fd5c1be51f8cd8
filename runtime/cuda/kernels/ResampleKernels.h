// Resizing of up to three dimensions at once, forward and backward alike: an element of the result
// is a weighted sum of elements of the operand. As in Kernels.h, functions launch on a stream, take
// device pointers and do not wait.
#pragma once

#include "runtime/cuda/kernels/BFloat16.h"
#include "runtime/cuda/kernels/Divisor.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace syncline::cuda {

/// The matrix of a resized dimension, as core::Bands, in device memory.
struct ResampleAxis {
  const std::int32_t *firsts = nullptr;
  const std::int32_t *begins = nullptr;
  const float *weights = nullptr;
};

/// Operand and result as dimensions in memory's order: resized ones, and `beside` all that lies
/// before, between and behind them. Where fewer are resized, the first ones have one element.
struct ResampleMap {
  std::uint32_t from[3] = {1, 1, 1}; ///< the operand's extents
  Divisor to[3];                     ///< the result's
  Divisor beside[3];                 ///< behind each of them
  ResampleAxis axes[3];

  /// The result's element number `number`.
  template <typename T> SYNCLINE_HOST_DEVICE float sum(const T *x, std::uint32_t number) const {
    std::uint32_t behind[3], at[3];
    for (int d = 3; d-- > 0;) {
      behind[d] = beside[d].split(number);
      at[d] = to[d].split(number);
    }
    std::int32_t begin[3], end[3], first[3];
    for (int d = 0; d < 3; ++d) {
      first[d] = axes[d].firsts[at[d]];
      begin[d] = axes[d].begins[at[d]];
      end[d] = axes[d].begins[at[d] + 1];
    }
    float outer = 0;
    for (std::int32_t a = begin[0]; a < end[0]; ++a) {
      const std::uint32_t plane = place(0, number, first[0] + a - begin[0], behind[0]);
      float middle = 0;
      for (std::int32_t b = begin[1]; b < end[1]; ++b) {
        const std::uint32_t line = place(1, plane, first[1] + b - begin[1], behind[1]);
        float inner = 0;
        for (std::int32_t c = begin[2]; c < end[2]; ++c)
          inner += axes[2].weights[c] *
                   static_cast<float>(x[place(2, line, first[2] + c - begin[2], behind[2])]);
        middle += axes[1].weights[b] * inner;
      }
      outer += axes[0].weights[a] * middle;
    }
    return outer;
  }

private:
  SYNCLINE_HOST_DEVICE std::uint32_t place(int d, std::uint32_t before, std::int32_t at,
                                           std::uint32_t behind) const {
    return (before * from[d] + static_cast<std::uint32_t>(at)) * beside[d].value() + behind;
  }
};

/// Computes the result's n elements. T is float or BFloat16.
template <typename T>
cudaError_t resample(cudaStream_t stream, const ResampleMap &map, const T *x, T *y,
                     std::uint32_t n);

} // namespace syncline::cuda
