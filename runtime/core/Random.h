// Counter-based random numbers. They are the same on all machines, in any order and on any number
// of threads.
//
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; SC 2011).
#pragma once

#include "runtime/core/HostDevice.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace syncline::core {

/// Four random words that depend only on the key and the counter.
SYNCLINE_HOST_DEVICE inline std::array<std::uint32_t, 4>
philox(std::array<std::uint32_t, 2> key, std::array<std::uint32_t, 4> counter) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * counter[2];
    counter = {
        static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

/// FNV-1a, 64 bits: stable over machines and compilers, unlike std::hash.
inline std::uint64_t stableHash(std::string_view text, std::uint64_t start = 0xCBF29CE484222325u) {
  for (unsigned char c : text)
    start = (start ^ c) * 0x100000001B3u;
  return start;
}

} // namespace syncline::core
