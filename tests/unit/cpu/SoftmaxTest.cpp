// Rows of exponentials have the bits of the plain loops here, whatever the instruction set, the
// length of the row and the place of its first element are.
#include "runtime/cpu/Softmax.h"
#include "syncline/VectorMath.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace syncline::cpu {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr std::size_t lanes = 16;

/// The header's order: element k goes to sum k modulo 16, and these are added in halves.
double sumInLanes(std::size_t n, const std::function<double(std::size_t)> &term) {
  double sums[lanes] = {};
  for (std::size_t k = 0; k < n; ++k)
    sums[k % lanes] += term(k);
  for (std::size_t half = lanes / 2; half > 0; half /= 2)
    for (std::size_t lane = 0; lane < half; ++lane)
      sums[lane] += sums[lane + half];
  return sums[0];
}

/// Values from -9 to 9, and in long rows a masked one and one far below.
std::vector<float> rowOf(std::size_t n) {
  std::vector<float> row(n);
  for (std::size_t k = 0; k < n; ++k)
    row[k] = static_cast<float>((k * 7919 + n) % 1801) / 100 - 9;
  if (n > 4)
    row[n / 2] = -infinity, row[n / 3] = -95;
  return row;
}

std::vector<std::uint32_t> bitsOf(const float *values, std::size_t n) {
  std::vector<std::uint32_t> bits(n);
  std::transform(values, values + n, bits.begin(), std::bit_cast<std::uint32_t, float>);
  return bits;
}

/// Calls body(row, x), where x holds the row at each place relative to a vector's alignment.
template <typename Body> void eachPlace(const Body &body) {
  std::vector<std::size_t> lengths{127, 1000, 50257};
  for (std::size_t n = 1; n <= 2 * lanes + 1; ++n)
    lengths.push_back(n);
  for (const std::size_t n : lengths)
    for (std::size_t offset = 0; offset < lanes; ++offset) {
      const std::vector<float> row = rowOf(n);
      std::vector<float> room(n + lanes);
      std::copy(row.begin(), row.end(), room.begin() + static_cast<std::ptrdiff_t>(offset));
      SCOPED_TRACE(testing::Message() << n << " elements from " << offset);
      body(row, room.data() + offset);
    }
}

TEST(SoftmaxTest, HasTheSameBitsEverywhere) {
  eachPlace([](const std::vector<float> &row, float *x) {
    const double largest = *std::max_element(row.begin(), row.end());
    const double scale = 1 / sumInLanes(row.size(), [&](std::size_t k) {
                           return exponentialInDouble(row[k] - largest);
                         });
    std::vector<float> expected(row.size());
    for (std::size_t k = 0; k < row.size(); ++k)
      expected[k] = static_cast<float>(exponentialInDouble(row[k] - largest) * scale);
    softmaxRow(x, x, static_cast<std::int64_t>(row.size()));
    EXPECT_EQ(bitsOf(x, row.size()), bitsOf(expected.data(), row.size()));
  });
}

TEST(SoftmaxTest, LogarithmAndExponentialsHaveTheSameBitsEverywhere) {
  eachPlace([](const std::vector<float> &row, float *x) {
    const auto n = static_cast<std::int64_t>(row.size());
    const double largest = *std::max_element(row.begin(), row.end());
    const double total = largest + std::log(sumInLanes(row.size(), [&](std::size_t k) {
                           return exponentialInDouble(row[k] - largest);
                         }));
    EXPECT_EQ(logSumExp(x, n), total);
    std::vector<float> expected(row.size()), actual(row.size());
    for (std::size_t k = 0; k < row.size(); ++k)
      expected[k] = static_cast<float>(exponentialInDouble(row[k] - total) * 0.3);
    exponentials(x, total, 0.3, actual.data(), n);
    EXPECT_EQ(bitsOf(actual.data(), row.size()), bitsOf(expected.data(), row.size()));
  });
}

// A multiplication and an addition that are one instruction round once. Sums from 1 to 2 show it,
// where the logarithm keeps the last bit of a double.
TEST(SoftmaxTest, ExponentialsAreNotContracted) {
  for (const std::size_t n : {std::size_t{2}, lanes})
    for (int i = 0; i < 10000; ++i) {
      std::vector<float> row(n, -infinity);
      row[0] = 0, row[1] = -1e-4f * static_cast<float>(i);
      const double sum = sumInLanes(n, [&](std::size_t k) { return exponentialInDouble(row[k]); });
      ASSERT_EQ(logSumExp(row.data(), static_cast<std::int64_t>(n)), std::log(sum)) << row[1];
    }
}

TEST(SoftmaxTest, DotProductHasTheSameBitsEverywhere) {
  eachPlace([](std::vector<float> row, float *x) {
    std::replace(row.begin(), row.end(), -infinity, 1e-3f);
    std::copy(row.begin(), row.end(), x);
    const double sum =
        sumInLanes(row.size(), [&](std::size_t k) { return static_cast<double>(row[k]) * row[k]; });
    EXPECT_EQ(dotProduct(x, row.data(), static_cast<std::int64_t>(row.size())), sum);
  });
}

/// Whether softmax and logSumExp give NaN alone.
void expectNotANumber(const std::vector<float> &row) {
  std::vector<float> y(row.size());
  softmaxRow(row.data(), y.data(), static_cast<std::int64_t>(row.size()));
  for (std::size_t k = 0; k < row.size(); ++k)
    EXPECT_TRUE(std::isnan(y[k])) << k << " of " << row.size();
  EXPECT_TRUE(std::isnan(logSumExp(row.data(), static_cast<std::int64_t>(row.size()))));
}

// PyTorch gives NaN for all of a row that is masked or holds NaN; an infinity does so for the sum.
TEST(SoftmaxTest, RowsWithoutASumAreNotANumber) {
  for (const std::size_t n : {1u, 2u, 15u, 16u, 17u, 31u, 40u}) {
    expectNotANumber(std::vector<float>(n, -infinity));
    for (std::size_t at = 0; at < n; ++at)
      for (const float value : {NAN, -NAN, infinity}) {
        std::vector<float> row = rowOf(n);
        row[at] = value;
        expectNotANumber(row);
      }
  }
}

TEST(SoftmaxTest, ExtremeRows) {
  constexpr float most = std::numeric_limits<float>::max();
  float y[3];
  for (const float x : {0.0f, -0.0f, most, -most, 1e-45f}) {
    softmaxRow(&x, y, 1);
    EXPECT_EQ(y[0], 1) << x;
    EXPECT_EQ(logSumExp(&x, 1), x);
  }
  const float far[] = {most, -most, -infinity};
  softmaxRow(far, y, 3);
  EXPECT_TRUE(y[0] == 1 && y[1] == 0 && y[2] == 0) << y[0] << " " << y[1] << " " << y[2];
  const float small[] = {0, -95, -104};
  softmaxRow(small, y, 3);
  EXPECT_FLOAT_EQ(y[1], static_cast<float>(std::exp(-95.0))); // a subnormal float
  EXPECT_EQ(y[2], 0);
}

} // namespace
} // namespace syncline::cpu
