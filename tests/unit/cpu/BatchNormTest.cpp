// Batch normalization of bf16 elements, which is computed in float, beside the formulas in double.
#include "runtime/cpu/BatchNorm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace syncline::cpu {
namespace {

using Bf16 = std::uint16_t;

constexpr double epsilon = 1e-5;

/// N×C×H×W with `rows` elements of each channel in a sample.
struct Case {
  std::string name;
  std::int64_t samples, channels, rows;
  dnnl::memory::format_tag tag;
  bool relu = false;
  double mean = 0; ///< beside deviations of 1
};

std::ostream &operator<<(std::ostream &out, const Case &of) { return out << of.name; }

class BatchNormOfBf16 : public testing::TestWithParam<Case> {
protected:
  BatchNormOfBf16()
      : layout({of.samples, of.channels, of.rows, 1}, DataType::bf16, of.tag), x(draw(of.mean, 1)),
        dy(draw(0, 2)), scale(of.channels, 0.75f), shift(of.channels, 0.125f), mean(of.channels),
        variance(of.channels) {}

  std::vector<Bf16> draw(double center, unsigned seed) const {
    std::mt19937 random(seed);
    std::normal_distribution<float> values(static_cast<float>(center), 1.0f);
    std::vector<Bf16> drawn(layout.get_size() / sizeof(Bf16)); // padding is 0
    each([&](std::int64_t at, std::int64_t) {
      drawn[static_cast<std::size_t>(at)] = core::bf16FromFloat(values(random));
    });
    return drawn;
  }

  /// Calls visit(offset, channel) for every element.
  template <typename Visit> void each(const Visit &visit) const {
    for (std::int64_t n = 0; n < of.samples; ++n)
      for (std::int64_t c = 0; c < of.channels; ++c)
        for (std::int64_t row = 0; row < of.rows; ++row)
          visit(elementOffset(layout, std::array{n, c, row, std::int64_t{0}}), c);
  }

  double at(const std::vector<Bf16> &tensor, std::int64_t offset) const {
    return core::floatFromBf16(tensor[static_cast<std::size_t>(offset)]);
  }

  Normalization<Bf16> normalization() const {
    return {*Channels::of(layout), of.channels, epsilon, of.relu, x.data()};
  }
  ChannelValues values() { return {scale.data(), shift.data(), mean.data(), variance.data()}; }

  /// Sums of term(offset) over each channel.
  template <typename Term> std::vector<double> sums(const Term &term) const {
    std::vector<double> totals(of.channels);
    each([&](std::int64_t at, std::int64_t c) { totals[c] += term(at, c); });
    return totals;
  }

  const Case of = GetParam();
  const double count = static_cast<double>(of.samples * of.rows);
  Layout layout;
  std::vector<Bf16> x, dy;
  std::vector<float> scale, shift, mean, variance;
};

TEST_P(BatchNormOfBf16, ForwardAndBackward) {
  std::vector<Bf16> y(x.size()), dx(x.size());
  std::vector<float> dscale(of.channels), dshift(of.channels);
  normalize(normalization(), values(), y.data());
  normalizeBackward(normalization(), values(), dy.data(), dx.data(), dscale.data(), dshift.data());

  const auto total = sums([&](std::int64_t i, std::int64_t) { return at(x, i); });
  const auto squares = sums(
      [&](std::int64_t i, std::int64_t c) { return std::pow(at(x, i) - total[c] / count, 2); });
  for (std::int64_t c = 0; c < of.channels; ++c) {
    EXPECT_NEAR(mean[c], total[c] / count, 1e-6 * (1 + of.mean));
    EXPECT_NEAR(variance[c], squares[c] / count, 1e-6 * (1 + squares[c] / count));
  }
  const auto normal = [&](std::int64_t i, std::int64_t c) {
    return (at(x, i) - total[c] / count) / std::sqrt(squares[c] / count + epsilon);
  };
  const auto before = [&](std::int64_t i, std::int64_t c) {
    return normal(i, c) * scale[c] + shift[c];
  };
  const auto gradient = [&](std::int64_t i, std::int64_t c) {
    return of.relu && before(i, c) <= 0 ? 0.0 : at(dy, i);
  };
  const auto first = sums(gradient);
  const auto second =
      sums([&](std::int64_t i, std::int64_t c) { return gradient(i, c) * normal(i, c); });
  for (std::int64_t c = 0; c < of.channels; ++c) {
    EXPECT_NEAR(dshift[c], first[c], 1e-6 * count);
    EXPECT_NEAR(dscale[c], second[c], 1e-6 * count);
  }
  each([&](std::int64_t i, std::int64_t c) {
    const double result = of.relu ? std::max(before(i, c), 0.0) : before(i, c);
    const double slope = scale[c] / std::sqrt(squares[c] / count + epsilon);
    const double back =
        slope * (gradient(i, c) - first[c] / count - normal(i, c) * second[c] / count);
    const auto rounding = [](double of) { return std::abs(of) * 0x1p-8 + 1e-5; };
    EXPECT_NEAR(at(y, i), result, rounding(result));
    EXPECT_NEAR(at(dx, i), back, rounding(back));
  });
}

// Nothing but the shift is left of a channel that does not vary, however large it is.
TEST_P(BatchNormOfBf16, ConstantChannelGivesItsShift) {
  each([&](std::int64_t at, std::int64_t) {
    x[static_cast<std::size_t>(at)] = core::bf16FromFloat(1000);
  });
  std::vector<Bf16> y(x.size());
  normalize(normalization(), values(), y.data());
  each([&](std::int64_t i, std::int64_t) { EXPECT_EQ(at(y, i), 0.125); });
}

using Tag = dnnl::memory::format_tag;
INSTANTIATE_TEST_SUITE_P(Layouts, BatchNormOfBf16,
                         testing::Values(Case{"Blocks", 2, 32, 21, Tag::nChw16c},
                                         Case{"PaddedBlocks", 3, 20, 7, Tag::nChw16c, true},
                                         Case{"BlocksOf8", 2, 16, 2, Tag::nChw8c, true},
                                         Case{"ChannelsLast", 3, 19, 18, Tag::nhwc, true},
                                         Case{"Plain", 2, 3, 33, Tag::nchw, true},
                                         Case{"LargeMean", 4, 16, 25, Tag::nhwc, false, 50},
                                         Case{"ManyRows", 2, 16, 20000, Tag::nhwc, true}),
                         testing::PrintToStringParamName());

} // namespace
} // namespace syncline::cpu
