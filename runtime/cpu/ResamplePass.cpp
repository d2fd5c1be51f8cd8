// Vectors run along the lanes where a row has several, else along the resized dimension itself.
#include "runtime/cpu/ResamplePass.h"

#include "runtime/core/Clones.h"

#include <algorithm>
#include <array>
#include <utility>

namespace syncline::cpu {

namespace {

/// y = Σ weights[k]·x[k·stride + ..] over n neighbours.
template <int taps>
SYNCLINE_CLONES void combine(const float *__restrict x, std::int64_t stride, const float *weights,
                             float *__restrict y, std::int64_t n) {
  std::array<float, taps> w;
  std::copy_n(weights, taps, w.begin());
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    float sum = w[0] * x[i];
    for (int k = 1; k < taps; ++k)
      sum += w[k] * x[k * stride + i];
    y[i] = sum;
  }
}

/// y += Σ weights[k]·x[k·stride + ..] for a number of entries that is known while it runs.
SYNCLINE_CLONES void combineMany(const float *__restrict x, std::int64_t stride,
                                 const float *weights, std::int64_t taps, float *__restrict y,
                                 std::int64_t n) {
  std::fill_n(y, n, 0.0f);
  for (std::int64_t k = 0; k < taps; ++k)
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i)
      y[i] += weights[k] * x[k * stride + i];
}

void combineRows(const float *x, std::int64_t stride, const float *weights, std::int64_t taps,
                 float *y, std::int64_t n) {
  switch (taps) {
  case 1:
    return weights[0] == 1 ? void(std::copy_n(x, n, y)) : combine<1>(x, stride, weights, y, n);
  case 2:
    return combine<2>(x, stride, weights, y, n);
  case 3:
    return combine<3>(x, stride, weights, y, n);
  case 4:
    return combine<4>(x, stride, weights, y, n);
  default:
    return combineMany(x, stride, weights, taps, y, n);
  }
}

/// The part of a product whose rows repeat.
template <int upper, int lower, int taps>
SYNCLINE_CLONES void repeat(const Pattern &pattern, const float *__restrict x,
                            float *__restrict y) {
  std::array<float, upper * taps> w;
  std::copy_n(pattern.weights.begin(), upper * taps, w.begin());
  std::array<std::int64_t, upper> shifts;
  std::copy_n(pattern.shifts.begin(), upper, shifts.begin());
#pragma omp simd
  for (std::int64_t i = pattern.begin; i < pattern.end; ++i)
    for (int p = 0; p < upper; ++p) {
      float sum = w[p * taps] * x[lower * i + shifts[p]];
      for (int k = 1; k < taps; ++k)
        sum += w[p * taps + k] * x[lower * i + shifts[p] + k];
      y[upper * i + p] = sum;
    }
}

using Repeat = void (*)(const Pattern &, const float *, float *);

/// Null where the pattern has no loop of its own.
Repeat findRepeat(const Pattern &pattern) {
  struct Known {
    std::int64_t upper, lower, taps;
    Repeat loop;
  };
  static constexpr Known known[] = {
      {2, 1, 1, repeat<2, 1, 1>}, {2, 1, 2, repeat<2, 1, 2>}, {2, 1, 4, repeat<2, 1, 4>},
      {4, 1, 1, repeat<4, 1, 1>}, {4, 1, 2, repeat<4, 1, 2>}, {4, 1, 4, repeat<4, 1, 4>},
      {1, 2, 1, repeat<1, 2, 1>}, {1, 2, 2, repeat<1, 2, 2>}, {1, 2, 4, repeat<1, 2, 4>},
      {1, 2, 8, repeat<1, 2, 8>}, {1, 4, 2, repeat<1, 4, 2>}, {1, 4, 4, repeat<1, 4, 4>},
      {1, 4, 8, repeat<1, 4, 8>},
  };
  const auto *const found = std::ranges::find_if(known, [&](const Known &each) {
    return each.upper == pattern.upper && each.lower == pattern.lower && each.taps == pattern.taps;
  });
  return found == std::end(known) ? nullptr : found->loop;
}

/// Whether the rows of period i are those of period `model`, `lower` columns further each.
bool repeats(const core::Bands &m, const Pattern &p, std::int64_t model, std::int64_t i) {
  for (std::int64_t row = p.upper * i; row < p.upper * (i + 1); ++row) {
    const std::int64_t other = row - p.upper * (i - model);
    const std::int64_t moved =
        m.firsts[static_cast<std::size_t>(row)] - m.firsts[static_cast<std::size_t>(other)];
    if (m.count(row) != p.taps || moved != p.lower * (i - model) ||
        !std::equal(m.of(row), m.of(row) + p.taps, m.of(other)))
      return false;
  }
  return true;
}

/// The periods around the middle one that repeat it, where these are half of all or more.
Pattern patternOf(const core::Bands &m, std::int64_t upper, std::int64_t lower) {
  const std::int64_t periods = m.rows() / upper, model = periods / 2;
  if (periods * upper != m.rows() || periods * lower != m.columns || periods < 4)
    return {};
  Pattern p{upper, lower, m.count(upper * model), model, model, {}, {}};
  while (p.begin > 0 && repeats(m, p, model, p.begin - 1))
    --p.begin;
  while (p.end < periods && repeats(m, p, model, p.end))
    ++p.end;
  if (p.taps == 0 || 2 * (p.end - p.begin) < periods)
    return {};
  for (std::int64_t row = upper * model; row < upper * (model + 1); ++row) {
    p.shifts.push_back(m.firsts[static_cast<std::size_t>(row)] - lower * model);
    p.weights.insert(p.weights.end(), m.of(row), m.of(row) + p.taps);
  }
  return p;
}

float sumOf(const core::Bands &m, std::int64_t row, const float *x) {
  const float *from = x + m.firsts[static_cast<std::size_t>(row)], *weights = m.of(row);
  float sum = 0;
  for (std::int64_t k = 0; k < m.count(row); ++k)
    sum += weights[k] * from[k];
  return sum;
}

template <int taps>
SYNCLINE_CLONES void gather(const float *__restrict x, const std::int32_t *places,
                            const float *weights, float *__restrict y, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    float sum = weights[i] * x[places[i]];
    for (int k = 1; k < taps; ++k)
      sum += weights[k * n + i] * x[places[k * n + i]];
    y[i] = sum;
  }
}

using Gather = void (*)(const float *, const std::int32_t *, const float *, float *, std::int64_t);
constexpr Gather gathers[] = {gather<1>, gather<2>, gather<3>, gather<4>, gather<5>, gather<6>};

} // namespace

ResamplePass::ResamplePass(core::Bands matrix) : bands(std::move(matrix)) {
  for (const auto &[upper, lower] : {std::pair{2, 1}, {4, 1}, {1, 2}, {1, 4}})
    if (pattern = patternOf(bands, upper, lower); findRepeat(pattern))
      return;
  pattern = {};
  std::int64_t least = bands.columns;
  for (std::int64_t row = 0; row < bands.rows(); ++row) {
    taps = std::max(taps, bands.count(row));
    least = std::min(least, bands.count(row));
  }
  if (least < 1 || taps > static_cast<std::int64_t>(std::size(gathers))) {
    taps = 0;
    return;
  }
  for (std::int64_t k = 0; k < taps; ++k)
    for (std::int64_t row = 0; row < bands.rows(); ++row) {
      const bool isOwn = k < bands.count(row);
      places.push_back(bands.firsts[static_cast<std::size_t>(row)] +
                       (isOwn ? static_cast<std::int32_t>(k) : 0));
      padded.push_back(isOwn ? bands.of(row)[k] : 0);
    }
}

/// The product with neighbouring elements.
void ResamplePass::alongNeighbours(const float *x, float *y) const {
  if (taps > 0)
    return gathers[taps - 1](x, places.data(), padded.data(), y, bands.rows());
  std::int64_t row = 0;
  if (const Repeat loop = findRepeat(pattern)) {
    for (; row < pattern.upper * pattern.begin; ++row)
      y[row] = sumOf(bands, row, x);
    loop(pattern, x, y);
    row = pattern.upper * pattern.end;
  }
  for (; row < bands.rows(); ++row)
    y[row] = sumOf(bands, row, x);
}

void ResamplePass::apply(Rows<const float> x, Rows<float> y, std::int64_t before,
                         std::int64_t after, std::int64_t lanes) const {
  const bool isDense = x.stride == lanes && y.stride == lanes;
  const std::int64_t run = isDense ? after * lanes : lanes, runs = isDense ? 1 : after;
  for (std::int64_t outer = 0; outer < before; ++outer) {
    const float *from = x.data + outer * bands.columns * after * x.stride;
    float *to = y.data + outer * bands.rows() * after * y.stride;
    if (isDense && run == 1) {
      alongNeighbours(from, to);
      continue;
    }
    for (std::int64_t row = 0; row < bands.rows(); ++row)
      for (std::int64_t i = 0; i < runs; ++i)
        combineRows(from + (bands.firsts[static_cast<std::size_t>(row)] * after + i) * x.stride,
                    after * x.stride, bands.of(row), bands.count(row),
                    to + (row * after + i) * y.stride, run);
  }
}

} // namespace syncline::cpu
