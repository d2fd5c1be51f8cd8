// Layer normalization: loops over plain rows, with sums in double. The statistics of a row are
// computed again in the backward pass: the row is read there anyway, and nothing is rounded
// in between.
#include "runtime/core/Clones.h"
#include "runtime/cpu/CpuBuilder.h"

#include <cmath>
#include <vector>

namespace syncline::cpu {

namespace {

/// A matrix whose rows are normalized.
struct Rows {
  std::int64_t count, width;
  double epsilon;

  bool isWorthThreads() const { return count * width >= 1 << 15; }
};

struct RowStatistics {
  double mean, inverseDeviation;
};

SYNCLINE_CLONES RowStatistics statisticsOf(const float *x, std::int64_t n, double epsilon) {
  double sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i)
    sum += x[i];
  const double mean = sum / static_cast<double>(n);
#pragma omp simd reduction(+ : squares)
  for (std::int64_t i = 0; i < n; ++i)
    squares += (x[i] - mean) * (x[i] - mean);
  return {mean, 1 / std::sqrt(squares / static_cast<double>(n) + epsilon)};
}

/// `shift` may be null.
SYNCLINE_CLONES void normalizeRow(const float *x, const float *scale, const float *shift, float *y,
                                  std::int64_t n, RowStatistics of) {
  if (!shift) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i)
      y[i] = static_cast<float>((x[i] - of.mean) * of.inverseDeviation * scale[i]);
    return;
  }
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    y[i] = static_cast<float>((x[i] - of.mean) * of.inverseDeviation * scale[i] + shift[i]);
}

/// dx = (g - mean(g) - x̂·mean(g·x̂)) / σ, where g = dy·scale.
SYNCLINE_CLONES void normalizeRowBackward(const float *x, const float *scale, const float *dy,
                                          float *dx, std::int64_t n, RowStatistics of) {
  double first = 0, second = 0;
#pragma omp simd reduction(+ : first, second)
  for (std::int64_t i = 0; i < n; ++i) {
    const double g = static_cast<double>(dy[i]) * scale[i];
    first += g;
    second += g * ((x[i] - of.mean) * of.inverseDeviation);
  }
  first /= static_cast<double>(n);
  second /= static_cast<double>(n);
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const double g = static_cast<double>(dy[i]) * scale[i];
    const double normal = (x[i] - of.mean) * of.inverseDeviation;
    dx[i] = static_cast<float>((g - first - normal * second) * of.inverseDeviation);
  }
}

/// Adds a row's dy·x̂ and dy to the sums of its columns, for the columns [first, last).
SYNCLINE_CLONES void addColumns(const float *x, const float *dy, double *dscale, double *dshift,
                                std::int64_t first, std::int64_t last, RowStatistics of) {
#pragma omp simd
  for (std::int64_t i = first; i < last; ++i) {
    dscale[i] += dy[i] * ((x[i] - of.mean) * of.inverseDeviation);
    dshift[i] += dy[i];
  }
}

void roundTo(float *result, const std::vector<double> &sums) {
  for (std::size_t i = 0; result && i < sums.size(); ++i)
    result[i] = static_cast<float>(sums[i]);
}

struct LayerNormGradients {
  float *dx, *dscale, *dshift; ///< null where they are not wanted
};

void layerNormBackwardOf(const Rows &rows, const float *x, const float *scale, const float *dy,
                         const LayerNormGradients &to) {
  std::vector<RowStatistics> statistics(static_cast<std::size_t>(rows.count));
#pragma omp parallel for if (rows.isWorthThreads())
  for (std::int64_t row = 0; row < rows.count; ++row) {
    const std::int64_t at = row * rows.width;
    const RowStatistics of = statisticsOf(x + at, rows.width, rows.epsilon);
    statistics[static_cast<std::size_t>(row)] = of;
    if (to.dx)
      normalizeRowBackward(x + at, scale, dy + at, to.dx + at, rows.width, of);
  }
  if (!to.dscale && !to.dshift)
    return;
  // Threads divide the columns, so that sums do not depend on their number.
  constexpr std::int64_t each = 64;
  std::vector<double> dscale(static_cast<std::size_t>(rows.width)), dshift = dscale;
#pragma omp parallel for if (rows.isWorthThreads())
  for (std::int64_t first = 0; first < rows.width; first += each)
    for (std::int64_t row = 0; row < rows.count; ++row)
      addColumns(x + row * rows.width, dy + row * rows.width, dscale.data(), dshift.data(), first,
                 std::min(first + each, rows.width), statistics[static_cast<std::size_t>(row)]);
  roundTo(to.dscale, dscale);
  roundTo(to.dshift, dshift);
}

Rows rowsOf(const Preparation &p, Tensor x, Tensor scale, double epsilon) {
  const std::int64_t width = core::elementCount(p.shape(scale));
  return {core::elementCount(p.shape(x)) / width, width, epsilon};
}

/// Memory of an operand that may be missing, and its address.
dnnl::memory inputOrNone(Preparation &p, Tensor tensor) {
  return tensor.isValid() ? p.plainInput(tensor) : dnnl::memory();
}
dnnl::memory outputOrNone(Preparation &p, Tensor tensor) {
  return tensor.isValid() ? p.plainOutput(tensor) : dnnl::memory();
}
float *addressOrNull(const dnnl::memory &memory) {
  return memory ? pointer<float>(memory) : nullptr;
}

} // namespace

void CpuBuilder::layerNorm(std::string_view layer, Tensor x, Tensor scale, Tensor shift, Tensor y,
                           double epsilon) {
  prepare("layerNorm", layer, [&](Preparation &p) {
    core::checkLayerNorm(p, x, {scale, shift});
    p.expectLike(y, x);
    p.call("sums in double",
           [rows = rowsOf(p, x, scale, epsilon), x = p.plainInput(x), scale = p.plainInput(scale),
            shift = inputOrNone(p, shift), y = p.plainOutput(y)] {
             const float *from = pointer<float>(x), *s = pointer<float>(scale);
             const float *b = addressOrNull(shift);
             float *to = pointer<float>(y);
#pragma omp parallel for if (rows.isWorthThreads())
             for (std::int64_t row = 0; row < rows.count; ++row) {
               const std::int64_t at = row * rows.width;
               normalizeRow(from + at, s, b, to + at, rows.width,
                            statisticsOf(from + at, rows.width, rows.epsilon));
             }
           });
  });
}

void CpuBuilder::layerNormBackward(std::string_view layer, Tensor x, Tensor scale, Tensor dy,
                                   Tensor dx, Tensor dscale, Tensor dshift, double epsilon) {
  prepare("layerNormBackward", layer, [&](Preparation &p) {
    core::checkLayerNorm(p, x, {scale, dscale, dshift});
    p.expectLike(dy, x);
    if (dx.isValid())
      p.expectLike(dx, x);
    p.call("sums in double",
           [rows = rowsOf(p, x, scale, epsilon), x = p.plainInput(x), scale = p.plainInput(scale),
            dy = p.plainInput(dy), dx = outputOrNone(p, dx), dscale = outputOrNone(p, dscale),
            dshift = outputOrNone(p, dshift)] {
             layerNormBackwardOf(rows, pointer<float>(x), pointer<float>(scale), pointer<float>(dy),
                                 {addressOrNull(dx), addressOrNull(dscale), addressOrNull(dshift)});
           });
  });
}

} // namespace syncline::cpu
