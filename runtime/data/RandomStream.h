// Random numbers that depend only on a seed, a name and a position. They are the same on every rank
// and in any order of drawing.
#pragma once

#include "runtime/core/Random.h"

#include <cmath>
#include <numbers>

namespace syncline::data {

/// A stream of random numbers, addressed by position.
class RandomStream {
public:
  RandomStream(std::uint64_t seed, std::string_view name) {
    std::uint64_t hash = core::stableHash(name);
    key = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
    stream = {static_cast<std::uint32_t>(hash), static_cast<std::uint32_t>(hash >> 32)};
  }

  /// Uniform in [0, 1).
  double uniform(std::uint64_t i) const { return unit(words(i), 0); }
  /// Normal with mean 0 and deviation 1 (Box and Muller).
  double normal(std::uint64_t i) const {
    auto w = words(i);
    double radius = std::sqrt(-2 * std::log(1 - unit(w, 0)));
    return radius * std::cos(2 * std::numbers::pi * unit(w, 2));
  }
  /// Uniform over 0 to bound - 1.
  std::uint64_t below(std::uint64_t i, std::uint64_t bound) const {
    auto w = words(i);
    std::uint64_t bits = static_cast<std::uint64_t>(w[1]) << 32 | w[0];
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(bits) * bound >> 64);
  }

private:
  std::array<std::uint32_t, 4> words(std::uint64_t i) const {
    return core::philox(key, {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i >> 32),
                              stream[0], stream[1]});
  }
  static double unit(const std::array<std::uint32_t, 4> &w, int first) {
    std::uint64_t bits = static_cast<std::uint64_t>(w[first + 1]) << 32 | w[first];
    return static_cast<double>(bits >> 11) * 0x1p-53;
  }
  std::array<std::uint32_t, 2> key, stream;
};

} // namespace syncline::data
