// The pointwise loops that tests hand to backends: what codegen would emit, an element at a time,
// for host and device.
#pragma once

#include "runtime/core/HalfFloat.h"
#include "runtime/core/HostDevice.h"
#include "syncline/Step.h"

#include <cstdint>

namespace syncline::conformance {

/// What a loop works on. Its floats lie as f32, or as bf16 where a bit of `rounded` says so: bit i
/// of input i, bit `inCount` + i of result i.
struct LoopOperands {
  static constexpr int most = 3;

  SYNCLINE_HOST_DEVICE float in(int number, std::int64_t i) const {
    return isRounded(number)
               ? core::floatFromBf16(static_cast<const std::uint16_t *>(ins[number])[i])
               : static_cast<const float *>(ins[number])[i];
  }
  SYNCLINE_HOST_DEVICE void set(int number, std::int64_t i, float value) const {
    if (isRounded(inCount + number))
      static_cast<std::uint16_t *>(outs[number])[i] = core::bf16FromFloat(value);
    else
      static_cast<float *>(outs[number])[i] = value;
  }
  SYNCLINE_HOST_DEVICE bool isRounded(int operand) const { return (rounded >> operand & 1) != 0; }

  void *outs[most];
  const void *ins[most];
  int inCount;
  std::uint64_t rounded;
};

/// y = relu(a + b), mask = a + b > 0.
struct AddRelu {
  static constexpr int outCount = 2, inCount = 2;
  SYNCLINE_HOST_DEVICE static void at(const LoopOperands &operands, std::int64_t i) {
    const float sum = operands.in(0, i) + operands.in(1, i);
    static_cast<std::uint8_t *>(operands.outs[1])[i] = sum > 0;
    operands.set(0, i, sum > 0 ? sum : 0);
  }
};

/// y = x + 1: does not keep zeros.
struct AddOne {
  static constexpr int outCount = 1, inCount = 1;
  SYNCLINE_HOST_DEVICE static void at(const LoopOperands &operands, std::int64_t i) {
    operands.set(0, i, operands.in(0, i) + 1);
  }
};

/// y = 2x.
struct Twice {
  static constexpr int outCount = 1, inCount = 1;
  SYNCLINE_HOST_DEVICE static void at(const LoopOperands &operands, std::int64_t i) {
    operands.set(0, i, 2 * operands.in(0, i));
  }
};

/// y[2,5,3,3] = x · s[5] along dimension 1, on dense operands.
struct ScaleChannels {
  static constexpr int outCount = 1, inCount = 2;
  static constexpr std::int64_t count = 90;
  SYNCLINE_HOST_DEVICE static void at(const LoopOperands &operands, std::int64_t i) {
    operands.set(0, i, operands.in(0, i) * operands.in(1, i / 9 % 5));
  }
};

/// y = a + b, or relu(a + b).
template <bool hasRelu> struct Sum {
  static constexpr int outCount = 1, inCount = 2;
  static constexpr LoopForm form = hasRelu ? LoopForm::sumRelu : LoopForm::sum;
  static constexpr int gate = 0;
  SYNCLINE_HOST_DEVICE static void at(const LoopOperands &operands, std::int64_t i) {
    const float sum = operands.in(0, i) + operands.in(1, i);
    operands.set(0, i, hasRelu && sum < 0 ? 0 : sum);
  }
};

/// dx = gate <= 0 ? 0 : a [+ b], of inputs gate, a, or a, gate, b.
template <int summands> struct ReluGradient {
  static constexpr int outCount = 1, inCount = 1 + summands;
  static constexpr LoopForm form = LoopForm::reluGradient;
  static constexpr int gate = summands - 1;
  SYNCLINE_HOST_DEVICE static void at(const LoopOperands &operands, std::int64_t i) {
    const float sum =
        summands == 1 ? operands.in(1, i) : operands.in(0, i) + operands.in(inCount - 1, i);
    operands.set(0, i, operands.in(gate, i) <= 0 ? 0 : sum);
  }
};

template <typename Loop>
LoopOperands operandsOf(void *const *outs, const void *const *ins, std::uint64_t rounded = 0) {
  LoopOperands operands{{}, {}, Loop::inCount, rounded};
  for (int i = 0; i < Loop::outCount; ++i)
    operands.outs[i] = outs[i];
  for (int i = 0; i < Loop::inCount; ++i)
    operands.ins[i] = ins[i];
  return operands;
}

} // namespace syncline::conformance
