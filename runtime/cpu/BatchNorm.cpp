// Two passes each way: sums, then elements. Elements of f32 are computed in double too. In float
// the difference x - mean is rounded alike for all elements of a channel, and the next sum shows
// it. Elements of bf16 are themselves rounded 2^15 times as coarsely, and are computed in float.
#include "runtime/cpu/BatchNorm.h"

#include <bit>
#include <cmath>
#include <vector>

namespace syncline::cpu {

namespace {

/// As many elements as the channel has.
template <typename T> double elementsOf(const Normalization<T> &of) {
  return static_cast<double>(of.view.samples * of.view.rows);
}

/// The batch's mean and variance. Terms are differences to the channel's first element, so that
/// the variance loses nothing where the mean is large.
template <typename T> void findStatistics(const Normalization<T> &of, const ChannelValues &values) {
  using Term = TermOf<T>;
  std::vector<Term> origin(of.view.end());
  for (const ChannelBlock &block : of.view.blocks)
    for (std::int64_t lane = 0; lane < block.lanes; ++lane)
      origin[static_cast<std::size_t>(block.channel + lane)] = loaded(of.x[block.offset + lane]);
  const std::vector<Two<>> sums =
      channelSums(of.view, [x = of.x, from = origin.data()](std::int64_t at, std::int64_t channel) {
        const Term difference = loaded(x[at]) - from[channel];
        return Two<Term>{difference, difference * difference};
      });
  const double n = elementsOf(of);
  for (std::int64_t c = 0; c < of.channels; ++c) {
    const auto [first, second] = sums[static_cast<std::size_t>(c)];
    const double offset = first / n;
    values.mean[c] = static_cast<float>(origin[static_cast<std::size_t>(c)] + offset);
    values.variance[c] = static_cast<float>(std::max(second / n - offset * offset, 0.0));
    if (std::isnan(second)) // which max() drops
      values.variance[c] = static_cast<float>(second);
  }
}

/// y = factor·(x - mean) + shift before the ReLU, by channel. All are 0 for a layout's padding,
/// which stays 0 by that. In float factor·x + (shift - factor·mean) would be a difference of large
/// numbers where a channel hardly varies.
template <typename T> struct Line {
  std::vector<TermOf<T>> factor, mean, shift;
};

template <typename T> Line<T> lineOf(const Normalization<T> &of, const ChannelValues &values) {
  using Values = std::vector<TermOf<T>>;
  Line<T> line{Values(of.view.end()), Values(of.view.end()), Values(of.view.end())};
  for (std::int64_t c = 0; c < of.channels; ++c) {
    const auto i = static_cast<std::size_t>(c);
    const double factor = values.scale[c] / std::sqrt(values.variance[c] + of.epsilon);
    line.factor[i] = static_cast<TermOf<T>>(factor);
    line.mean[i] = values.mean[c];
    line.shift[i] = values.shift[c];
  }
  return line;
}

/// The function of offset and channel that computes y before the ReLU.
template <typename T> auto valueOf(const Normalization<T> &of, const Line<T> &line) {
  return [x = of.x, factor = line.factor.data(), mean = line.mean.data(),
          shift = line.shift.data()](std::int64_t at, std::int64_t c) {
    return (loaded(x[at]) - mean[c]) * factor[c] + shift[c];
  };
}

/// All bits where a ReLU lets the value through, which is above 0 or NaN. A comparison would become
/// a branch around the gradient, which does not vectorise.
std::int32_t passing(float value) {
  constexpr std::int32_t magnitude = 0x7fffffff, infinity = 0x7f800000;
  const auto isPositive = std::bit_cast<std::int32_t>(0.0f - value) >> 31;
  const auto isNan = (infinity - (std::bit_cast<std::int32_t>(value) & magnitude)) >> 31;
  return isPositive | isNan;
}

/// normalizeBackward() by gradients before the ReLU, a function of offset and channel.
template <typename T, typename Gradient>
void backwardOf(const Normalization<T> &of, const ChannelValues &values, const Gradient &gradient,
                T *dx, float *dscale, float *dshift) {
  using Term = TermOf<T>;
  std::vector<Term> mean(values.mean, values.mean + of.channels);
  mean.resize(of.view.end());
  const std::vector<Two<>> sums =
      channelSums(of.view, [=, x = of.x, mean = mean.data()](std::int64_t at, std::int64_t c) {
        const Term g = gradient(at, c);
        return Two<Term>{g, g * (loaded(x[at]) - mean[c])};
      });
  // dx = factor·dy - slope·(x - mean) - constant
  std::vector<Term> factor(of.view.end()), slope(of.view.end()), constant(of.view.end());
  const double n = elementsOf(of);
  for (std::int64_t c = 0; c < of.channels; ++c) {
    const auto i = static_cast<std::size_t>(c);
    const auto [first, second] = sums[i];
    const double inverse = 1 / std::sqrt(values.variance[c] + of.epsilon);
    const double gain = values.scale[c] * inverse, fall = gain * inverse * inverse * second / n;
    factor[i] = static_cast<Term>(gain);
    slope[i] = static_cast<Term>(fall);
    constant[i] = static_cast<Term>(gain * first / n);
    if (dscale)
      dscale[c] = static_cast<float>(second * inverse);
    if (dshift)
      dshift[c] = static_cast<float>(first);
  }
  if (dx)
    forEachElement(of.view, [=, x = of.x, mean = mean.data(), factor = factor.data(),
                             slope = slope.data(),
                             constant = constant.data()](std::int64_t at, std::int64_t c) {
      store(dx[at], static_cast<float>(factor[c] * gradient(at, c) -
                                       slope[c] * (loaded(x[at]) - mean[c]) - constant[c]));
    });
}

template <typename T> void forward(const Normalization<T> &of, const ChannelValues &values, T *y) {
  const Line<T> line = lineOf(of, values);
  const auto value = valueOf(of, line);
  if (of.relu)
    forEachElement(of.view, [=](std::int64_t at, std::int64_t c) {
      const auto before = static_cast<float>(value(at, c));
      store(y[at], before < 0 ? 0.0f : before);
    });
  else
    forEachElement(of.view, [=](std::int64_t at, std::int64_t c) {
      store(y[at], static_cast<float>(value(at, c)));
    });
}

template <typename T>
void backward(const Normalization<T> &of, const ChannelValues &values, const T *dy, T *dx,
              float *dscale, float *dshift) {
  if (!of.relu) {
    const auto all = [=](std::int64_t at, std::int64_t) -> TermOf<T> { return loaded(dy[at]); };
    return backwardOf(of, values, all, dx, dscale, dshift);
  }
  const Line<T> line = lineOf(of, values);
  const auto passed = [=, value = valueOf(of, line)](std::int64_t at, std::int64_t c) -> TermOf<T> {
    return std::bit_cast<float>(std::bit_cast<std::int32_t>(loaded(dy[at])) &
                                passing(static_cast<float>(value(at, c))));
  };
  backwardOf(of, values, passed, dx, dscale, dshift);
}

} // namespace

template <typename T>
void normalize(const Normalization<T> &of, const ChannelValues &values, T *y) {
  findStatistics(of, values);
  forward(of, values, y);
}

template <typename T>
void normalizeBy(const Normalization<T> &of, const ChannelValues &statistics, T *y) {
  forward(of, statistics, y);
}

template <typename T>
void normalizeBackward(const Normalization<T> &of, const ChannelValues &values, const T *dy, T *dx,
                       float *dscale, float *dshift) {
  backward(of, values, dy, dx, dscale, dshift);
}

template void normalize(const Normalization<float> &, const ChannelValues &, float *);
template void normalize(const Normalization<std::uint16_t> &, const ChannelValues &,
                        std::uint16_t *);
template void normalizeBy(const Normalization<float> &, const ChannelValues &, float *);
template void normalizeBy(const Normalization<std::uint16_t> &, const ChannelValues &,
                          std::uint16_t *);
template void normalizeBackward(const Normalization<float> &, const ChannelValues &, const float *,
                                float *, float *, float *);
template void normalizeBackward(const Normalization<std::uint16_t> &, const ChannelValues &,
                                const std::uint16_t *, std::uint16_t *, float *, float *);

} // namespace syncline::cpu
