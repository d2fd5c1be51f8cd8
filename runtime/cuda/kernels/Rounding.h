// Conversions between f32 and the two 16-bit formats. Devices from sm_80 on have an instruction for
// each, which ptxas joins for two neighbours; hosts and older devices use core/HalfFloat.h. Both
// give the same bits, except that an instruction turns every NaN into one NaN, with no sign and no
// payload, where HalfFloat.h keeps what of them fits.
#pragma once

#include "runtime/core/HalfFloat.h"
#include "runtime/core/HostDevice.h"

#include <cstdint>

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define SYNCLINE_CONVERTS_HALVES 1
#else
#define SYNCLINE_CONVERTS_HALVES 0
#endif

namespace syncline::cuda {

SYNCLINE_HOST_DEVICE inline std::uint16_t roundedToBf16(float value) {
#if SYNCLINE_CONVERTS_HALVES
  std::uint16_t bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
#else
  return core::bf16FromFloat(value);
#endif
}

/// A shift, for which no instruction is needed.
SYNCLINE_HOST_DEVICE inline float widenedBf16(std::uint16_t bits) {
  return core::floatFromBf16(bits);
}

SYNCLINE_HOST_DEVICE inline std::uint16_t roundedToF16(float value) {
#if SYNCLINE_CONVERTS_HALVES
  std::uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
#else
  return core::f16FromFloat(value);
#endif
}

SYNCLINE_HOST_DEVICE inline float widenedF16(std::uint16_t bits) {
#if SYNCLINE_CONVERTS_HALVES
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
#else
  return core::floatFromF16(bits);
#endif
}

} // namespace syncline::cuda
