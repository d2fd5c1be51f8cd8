// SHA-256, step by step as FIPS 180-4 has it.
#include "runtime/core/TextDigest.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace syncline::core {
namespace {

using Block = std::array<std::uint32_t, 16>;

/// The first 32 bits of the fractions of the cube roots of the first 64 primes.
constexpr std::uint32_t roundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

class Digest {
public:
  void add(const Block &block) {
    std::uint32_t words[64];
    for (int i = 0; i < 16; ++i)
      words[i] = block[static_cast<std::size_t>(i)];
    for (int i = 16; i < 64; ++i)
      words[i] = words[i - 16] + words[i - 7] + small(words[i - 15], 7, 18, 3) +
                 small(words[i - 2], 17, 19, 10);
    auto [a, b, c, d, e, f, g, h] = state;
    for (int i = 0; i < 64; ++i) {
      const std::uint32_t first =
          h + large(e, 6, 11, 25) + ((e & f) ^ (~e & g)) + roundConstants[i] + words[i];
      const std::uint32_t second = large(a, 2, 13, 22) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + first;
      d = c, c = b, b = a, a = first + second;
    }
    const std::uint32_t sums[8] = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i)
      state[i] += sums[i];
  }

  std::string hex() const {
    std::string text;
    for (const std::uint32_t word : state)
      for (int shift = 28; shift >= 0; shift -= 4)
        text += "0123456789abcdef"[word >> shift & 15];
    return text;
  }

private:
  static std::uint32_t small(std::uint32_t x, int turn, int further, int shift) {
    return std::rotr(x, turn) ^ std::rotr(x, further) ^ x >> shift;
  }
  static std::uint32_t large(std::uint32_t x, int turn, int further, int furthest) {
    return std::rotr(x, turn) ^ std::rotr(x, further) ^ std::rotr(x, furthest);
  }

  std::array<std::uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
};

} // namespace

std::string digestOf(std::string_view text) {
  // The text, a bit that is set, zeros up to a whole block, and the number of the text's bits.
  const std::size_t blocks = (text.size() + 1 + 8 + 63) / 64;
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  const auto byteAt = [&](std::size_t at) -> std::uint32_t {
    if (at < text.size())
      return static_cast<unsigned char>(text[at]);
    if (at == text.size())
      return 0x80;
    const std::size_t left = blocks * 64 - 1 - at;
    return left < 8 ? bits >> (8 * left) & 0xff : 0;
  };
  Digest digest;
  for (std::size_t first = 0; first < blocks * 64; first += 64) {
    Block block;
    for (std::size_t i = 0; i < 16; ++i) {
      const std::size_t at = first + 4 * i;
      block[i] = byteAt(at) << 24 | byteAt(at + 1) << 16 | byteAt(at + 2) << 8 | byteAt(at + 3);
    }
    digest.add(block);
  }
  return digest.hex();
}

} // namespace syncline::core
