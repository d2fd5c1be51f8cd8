// Random numbers that a step computes with. All backends draw the same ones, in any order.
#pragma once

#include "runtime/core/Dropout.h"

#include <cmath>

namespace syncline::core {

/// The numbers of the kernel's parameter `distribution`. `constant` is that of an evaluation.
enum class Distribution { uniform = 0, normal = 1, bernoulli = 2, constant = 3 };

struct NoiseStream {
  DropoutStream words;
  Distribution distribution;
  double first, second; ///< bounds; mean and deviation; the probability; or the constant
};

inline NoiseStream noiseStream(const ExecutableOptions &options, std::string_view layer,
                               std::int64_t distribution, double first, double second) {
  return {dropoutStream(options, layer, 0), static_cast<Distribution>(distribution), first, second};
}

/// What is drawn in an evaluation in place of the stream's numbers.
inline NoiseStream constantNoise(const NoiseStream &stream, double value) {
  return {stream.words, Distribution::constant, value, 0};
}

/// Two independent normal numbers from two random words, by Box and Muller's formula.
SYNCLINE_HOST_DEVICE inline std::array<double, 2> normalPair(std::uint32_t a, std::uint32_t b) {
  constexpr double unit = 1.0 / 4294967296.0, turn = 6.283185307179586;
  const double radius = std::sqrt(-2 * std::log((a + 1.0) * unit)), angle = turn * unit * b;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

/// Numbers of [0, 1) have 24 bits, so that none is rounded up to 1.
SYNCLINE_HOST_DEVICE inline double uniformNumber(std::uint32_t word) {
  return (word >> 8) * (1.0 / 16777216.0);
}

/// The numbers of the elements 4·block to 4·block + 3, in this order. They are computed in double,
/// so that backends with other logarithms and sines round to the same number.
SYNCLINE_HOST_DEVICE inline std::array<float, 4> noiseBlock(const NoiseStream &s, std::int64_t step,
                                                            std::uint64_t block) {
  const std::array<std::uint32_t, 4> words = dropoutWords(s.words, step, block);
  std::array<float, 4> numbers{};
  for (unsigned k = 0; k < 4; ++k) {
    double number = s.first;
    switch (s.distribution) {
    case Distribution::uniform:
      number += (s.second - s.first) * uniformNumber(words[k]);
      break;
    case Distribution::normal:
      number += s.second * normalPair(words[k & 2], words[(k & 2) + 1])[k & 1];
      break;
    case Distribution::bernoulli:
      number = words[k] < s.first * 4294967296.0 ? 1 : 0;
      break;
    case Distribution::constant:
      break;
    }
    numbers[k] = static_cast<float>(number);
  }
  return numbers;
}

} // namespace syncline::core
