// Random numbers that depend on nothing but their arguments (splitmix64).
#pragma once

#include <cstdint>

namespace syncline::simulate {

/// 64 evenly distributed bits.
inline std::uint64_t randomBits(std::uint64_t seed, std::uint64_t place) {
  std::uint64_t z = seed + (place + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// A number evenly distributed in [-1, 1).
inline double noise(std::uint64_t seed, std::uint64_t place) {
  return static_cast<double>(randomBits(seed, place) >> 11) * 0x1p-52 - 1;
}

} // namespace syncline::simulate
