// The device's conversions between f32 and 16-bit formats, and those of the host, against the
// definition: the nearest number of the format, of two that are as near the even one.
#include "runtime/core/HalfFloat.h"
#include "tests/conformance/RoundingKernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace syncline::conformance {
namespace {

/// A 16-bit format by its numbers.
struct Format {
  int fractionBits, leastExponent; ///< its smallest number above 0 is 2^leastExponent
  std::uint16_t infinity;
  std::uint16_t (*round)(float);
  float (*widen)(std::uint16_t);

  bool isNan(std::uint16_t bits) const { return (bits & 0x7fff) > infinity; }
  double value(std::uint16_t bits) const {
    const int magnitude = bits & 0x7fff, exponent = magnitude >> fractionBits;
    const int fraction = magnitude - (exponent << fractionBits);
    const double size =
        exponent == 0 ? std::ldexp(fraction, leastExponent)
                      : std::ldexp(fraction + (1 << fractionBits), leastExponent + exponent - 1);
    return bits & 0x8000 ? -size : size;
  }
  /// Precondition: `value` is a number or infinite. What is beyond the largest number counts the
  /// infinity as one number more.
  std::uint16_t nearest(float value) const {
    const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const double size = std::fabs(static_cast<double>(value));
    if (std::isinf(size))
      return sign | infinity;
    std::uint16_t below = 0; // the largest number that is not beyond `size`
    for (int bit = 0x4000; bit > 0; bit /= 2)
      if (below + bit < infinity && this->value(static_cast<std::uint16_t>(below + bit)) <= size)
        below = static_cast<std::uint16_t>(below + bit);
    const double down = size - this->value(below);
    const double up = this->value(static_cast<std::uint16_t>(below + 1)) - size;
    const bool isUp = up < down || (up == down && below % 2 == 1);
    return static_cast<std::uint16_t>(sign | (below + isUp));
  }
};

constexpr Format bf16{7, -133, 0x7f80, core::bf16FromFloat, core::floatFromBf16};
constexpr Format f16{10, -24, 0x7c00, core::f16FromFloat, core::floatFromF16};

/// Memory of the device.
template <typename T> class Memory {
public:
  explicit Memory(std::size_t n) : n(n) {
    void *place = nullptr;
    EXPECT_EQ(cudaMalloc(&place, n * sizeof(T)), cudaSuccess);
    data = static_cast<T *>(place);
  }
  explicit Memory(const std::vector<T> &values) : Memory(values.size()) {
    EXPECT_EQ(cudaMemcpy(data, values.data(), n * sizeof(T), cudaMemcpyDefault), cudaSuccess);
  }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  ~Memory() { cudaFree(data); }

  std::vector<T> read() const {
    std::vector<T> values(n);
    EXPECT_EQ(cudaMemcpy(values.data(), data, n * sizeof(T), cudaMemcpyDefault), cudaSuccess);
    return values;
  }

  std::size_t n;
  T *data = nullptr;
};

class RoundingTest : public testing::Test {
protected:
  RoundingTest() {
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  }
  ~RoundingTest() override { cudaStreamDestroy(stream); }

  cudaStream_t stream = nullptr;
};

/// Floats whose upper halves are all that there are: exact ones, ties, and the neighbours of both,
/// for either format.
std::vector<float> floats() {
  std::vector<float> all;
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper)
    for (std::uint32_t lower : {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x3000u, 0x7fffu,
                                0x8000u, 0x8001u, 0xf000u, 0xffffu})
      all.push_back(std::bit_cast<float>(upper << 16 | lower));
  return all;
}

/// NaN becomes some NaN: an instruction gives 0x7fff always, the host's keeps the sign.
void expectNearest(const Format &format, const std::vector<float> &from,
                   const std::vector<std::uint16_t> &device) {
  int wrong = 0;
  for (std::size_t i = 0; i < from.size() && wrong < 10; ++i) {
    const std::uint16_t host = format.round(from[i]);
    if (std::isnan(from[i])
            ? format.isNan(host) && format.isNan(device[i])
            : host == format.nearest(from[i]) && device[i] == format.nearest(from[i]))
      continue;
    ++wrong;
    ADD_FAILURE() << from[i] << ": " << host << " on the host, " << device[i]
                  << " on the device, expected " << format.nearest(from[i]);
  }
}

TEST_F(RoundingTest, RoundsToTheNearestEven) {
  const Memory<float> from(floats());
  const Memory<std::uint16_t> toBf16(from.n), toF16(from.n);
  ASSERT_EQ(roundAll(stream, from.data, toBf16.data, toF16.data, static_cast<std::int64_t>(from.n)),
            cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  expectNearest(bf16, floats(), toBf16.read());
  expectNearest(f16, floats(), toF16.read());
}

void expectExact(const Format &format, const std::vector<float> &device) {
  for (std::size_t i = 0; i < device.size(); ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const float host = format.widen(bits);
    if (format.isNan(bits)) {
      EXPECT_TRUE(std::isnan(host) && std::isnan(device[i])) << i;
      continue;
    }
    const bool isInfinite = (bits & 0x7fff) == format.infinity;
    const double size =
        isInfinite ? std::numeric_limits<double>::infinity() : std::fabs(format.value(bits));
    EXPECT_EQ(std::fabs(static_cast<double>(host)), size) << i;
    EXPECT_EQ(std::signbit(host), (bits & 0x8000) != 0) << i;
    EXPECT_EQ(std::bit_cast<std::uint32_t>(host), std::bit_cast<std::uint32_t>(device[i])) << i;
  }
}

TEST_F(RoundingTest, WidensExactly) {
  std::vector<std::uint16_t> all(0x10000);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<std::uint16_t>(i);
  const Memory<std::uint16_t> from(all);
  const Memory<float> ofBf16(from.n), ofF16(from.n);
  ASSERT_EQ(widenAll(stream, from.data, ofBf16.data, ofF16.data, static_cast<std::int64_t>(from.n)),
            cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  expectExact(bf16, ofBf16.read());
  expectExact(f16, ofF16.read());
}

} // namespace
} // namespace syncline::conformance
