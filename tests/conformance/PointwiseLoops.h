// The pointwise loops that tests hand to backends: what codegen would emit, an element at a time,
// for host and device.
#pragma once

#include "runtime/core/HostDevice.h"

#include <cstdint>

namespace syncline::conformance {

/// y = relu(a + b), mask = a + b > 0.
struct AddRelu {
  SYNCLINE_HOST_DEVICE static void at(void *const *outs, const void *const *ins, std::int64_t i) {
    const float sum = static_cast<const float *>(ins[0])[i] + static_cast<const float *>(ins[1])[i];
    static_cast<std::uint8_t *>(outs[1])[i] = sum > 0;
    static_cast<float *>(outs[0])[i] = sum > 0 ? sum : 0;
  }
};

/// y = x + 1: does not keep zeros.
struct AddOne {
  SYNCLINE_HOST_DEVICE static void at(void *const *outs, const void *const *ins, std::int64_t i) {
    static_cast<float *>(outs[0])[i] = static_cast<const float *>(ins[0])[i] + 1;
  }
};

/// y = 2x.
struct Twice {
  SYNCLINE_HOST_DEVICE static void at(void *const *outs, const void *const *ins, std::int64_t i) {
    static_cast<float *>(outs[0])[i] = 2 * static_cast<const float *>(ins[0])[i];
  }
};

/// y[2,5,3,3] = x · s[5] along dimension 1, on dense operands.
struct ScaleChannels {
  static constexpr std::int64_t count = 90;
  SYNCLINE_HOST_DEVICE static void at(void *const *outs, const void *const *ins, std::int64_t i) {
    static_cast<float *>(outs[0])[i] =
        static_cast<const float *>(ins[0])[i] * static_cast<const float *>(ins[1])[i / 9 % 5];
  }
};

} // namespace syncline::conformance
