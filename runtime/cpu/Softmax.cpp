// Each loop is compiled for several vector widths, once in each function that calls it.
#include "runtime/cpu/Softmax.h"

#include "syncline/CpuIsa.h"
#include "syncline/VectorMath.h"

#include <algorithm>
#include <cmath>

namespace syncline::cpu {

namespace {

#define SYNCLINE_INLINE __attribute__((always_inline)) inline
#if defined(__x86_64__) && defined(__gnu_linux__)
#define SYNCLINE_VECTORS(name) __attribute__((target("arch=" name)))
#else
#define SYNCLINE_VECTORS(name)
#endif

constexpr std::int64_t lanes = 16;

/// Σ term(k) over 0..n: element k goes to sum k modulo `lanes`.
template <typename Term> SYNCLINE_INLINE double sumOf(std::int64_t n, const Term &term) {
  double sums[lanes] = {};
  std::int64_t k = 0;
  for (; k + lanes <= n; k += lanes)
#pragma omp simd
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      sums[lane] += term(k + lane);
  for (; k < n; ++k)
    sums[k % lanes] += term(k);
  for (std::int64_t half = lanes / 2; half > 0; half /= 2)
    for (std::int64_t lane = 0; lane < half; ++lane)
      sums[lane] += sums[lane + half];
  return sums[0];
}

/// The largest value, where none is NaN.
SYNCLINE_INLINE float largestOf(const float *x, std::int64_t n) {
  float largest[lanes];
  std::fill(largest, largest + lanes, x[0]);
  std::int64_t k = 0;
  for (; k + lanes <= n; k += lanes)
#pragma omp simd
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      largest[lane] = largest[lane] < x[k + lane] ? x[k + lane] : largest[lane];
  for (; k < n; ++k)
    largest[0] = std::max(largest[0], x[k]);
  return *std::max_element(largest, largest + lanes);
}

/// eˣ of a difference from the largest value. Both may be infinite, and then it is NaN.
SYNCLINE_INLINE double below(float x, double largest) { return exponentialInDouble(x - largest); }

struct LogSumExp {
  SYNCLINE_INLINE static void run(const float *x, std::int64_t n, double *result) {
    const double largest = largestOf(x, n);
    const double sum = sumOf(n, [=](std::int64_t k) { return below(x[k], largest); });
    *result = largest + std::log(sum);
  }
};

struct Exponentials {
  SYNCLINE_INLINE static void run(const float *x, double total, double factor, float *y,
                                  std::int64_t n) {
#pragma omp simd
    for (std::int64_t k = 0; k < n; ++k)
      y[k] = static_cast<float>(below(x[k], total) * factor);
  }
};

/// Every exponential is computed twice, which takes less time than keeping it in double.
struct SoftmaxRow {
  SYNCLINE_INLINE static void run(const float *x, float *y, std::int64_t n) {
    const double largest = largestOf(x, n);
    const double scale = 1 / sumOf(n, [=](std::int64_t k) { return below(x[k], largest); });
#pragma omp simd
    for (std::int64_t k = 0; k < n; ++k)
      y[k] = static_cast<float>(below(x[k], largest) * scale);
  }
};

struct DotProduct {
  SYNCLINE_INLINE static void run(const float *a, const float *b, std::int64_t n, double *result) {
    *result = sumOf(n, [=](std::int64_t k) { return static_cast<double>(a[k]) * b[k]; });
  }
};

template <typename Loop, typename... Operands>
SYNCLINE_VECTORS("x86-64-v4")
void byAvx512(Operands... operands) {
  Loop::run(operands...);
}

template <typename Loop, typename... Operands>
SYNCLINE_VECTORS("x86-64-v3")
void byAvx2(Operands... operands) {
  Loop::run(operands...);
}

template <typename Loop, typename... Operands> void widest(Operands... operands) {
  static const CpuIsa isa = loopIsa();
  if (isa == CpuIsa::avx512)
    return byAvx512<Loop>(operands...);
  if (isa == CpuIsa::avx2)
    return byAvx2<Loop>(operands...);
  Loop::run(operands...);
}

} // namespace

double logSumExp(const float *x, std::int64_t n) {
  double result = 0;
  widest<LogSumExp>(x, n, &result);
  return result;
}

void exponentials(const float *x, double total, double factor, float *y, std::int64_t n) {
  widest<Exponentials>(x, total, factor, y, n);
}

void softmaxRow(const float *x, float *y, std::int64_t n) { widest<SoftmaxRow>(x, y, n); }

double dotProduct(const float *a, const float *b, std::int64_t n) {
  double result = 0;
  widest<DotProduct>(a, b, n, &result);
  return result;
}

} // namespace syncline::cpu
