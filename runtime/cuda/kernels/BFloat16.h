// bfloat16 elements, for device and host. Kernels load them as floats and round results to the
// nearest when storing, so that f32 and bf16 share code.
#pragma once

#include "runtime/cuda/kernels/Rounding.h"
#include "syncline/Step.h"

namespace syncline::cuda {

struct BFloat16 {
  BFloat16() = default;
  SYNCLINE_HOST_DEVICE explicit BFloat16(float value) : bits(roundedToBf16(value)) {}
  SYNCLINE_HOST_DEVICE operator float() const { return widenedBf16(bits); }

  std::uint16_t bits;
};

/// Calls f.template operator()<T>() with T = BFloat16 if `type` is bf16, otherwise float. The
/// caller has checked the type.
template <typename F> void withElement(ElementType type, const F &f) {
  if (type == ElementType::bf16)
    f.template operator()<BFloat16>();
  else
    f.template operator()<float>();
}

} // namespace syncline::cuda
