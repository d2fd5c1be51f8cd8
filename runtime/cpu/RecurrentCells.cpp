// Loops over the elements of a cell.
#include "runtime/cpu/RecurrentCells.h"
#include "runtime/core/Clones.h"

#include <bit>
#include <cmath>

namespace syncline::cpu {

namespace {

/// eˣ within two units in the last place, in a form that the compiler vectorises. NaN stays NaN.
inline float exponential(float x) {
  constexpr float least = -87.0f, most = 88.0f;
  x = x > most ? most : x < least ? least : x;
  constexpr float shift = 12582912.0f; // to add it rounds to whole numbers
  const float n = (x * 1.44269504f + shift) - shift;
  const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  float y = 1.9875691500e-4f;
  y = y * r + 1.3981999507e-3f;
  y = y * r + 8.3334519073e-3f;
  y = y * r + 4.1665795894e-2f;
  y = y * r + 1.6666665459e-1f;
  y = y * r + 5.0000001201e-1f;
  y = y * r * r + r + 1.0f;
  const auto exponent = (static_cast<std::int32_t>(n) + 127) << 23;
  return y * std::bit_cast<float>(exponent);
}

inline float sigmoid(float x) { return 1 / (1 + exponential(-x)); }

/// A quotient of polynomials near zero, where e²ˣ - 1 would lose digits; it is Eigen's.
inline float hyperbolicTangent(float x) {
  constexpr float most = 7.90531111f;
  const float z = x > most ? most : x < -most ? -most : x;
  const float s = z * z;
  float p = -2.76076847742355e-16f;
  p = p * s + 2.00018790482477e-13f;
  p = p * s + -8.60467152213735e-11f;
  p = p * s + 5.12229709037114e-08f;
  p = p * s + 1.48572235717979e-05f;
  p = p * s + 6.37261928875436e-04f;
  p = p * s + 4.89352455891786e-03f;
  float q = 1.19825839466702e-06f;
  q = q * s + 1.18534705686654e-04f;
  q = q * s + 2.26843463243900e-03f;
  q = q * s + 4.89352518554385e-03f;
  return z * p / q;
}

} // namespace

SYNCLINE_CLONES void lstmCell(const CellStep &step) {
  const auto [x, product, first, second, h, c, gates, newC, newH, n] = step;
#pragma omp simd
  for (std::int64_t j = 0; j < n; ++j) {
    const auto sum = [&](std::int64_t gate) {
      const std::int64_t at = gate * n + j;
      return x[at] + product[at] + (first[at] + second[at]);
    };
    const float i = sigmoid(sum(0)), o = sigmoid(sum(1)), f = sigmoid(sum(2));
    const float g = hyperbolicTangent(sum(3));
    const float state = f * c[j] + i * g;
    gates[j] = i;
    gates[n + j] = o;
    gates[2 * n + j] = f;
    gates[3 * n + j] = g;
    newC[j] = state;
    newH[j] = o * hyperbolicTangent(state);
  }
}

SYNCLINE_CLONES void gruGates(const CellStep &step, float *scaled) {
  const auto [x, product, first, second, h, c, gates, newC, newH, n] = step;
#pragma omp simd
  for (std::int64_t j = 0; j < n; ++j) {
    const float r = sigmoid(x[n + j] + product[n + j] + (first[n + j] + second[n + j]));
    gates[j] = sigmoid(x[j] + product[j] + (first[j] + second[j]));
    gates[n + j] = r;
    scaled[j] = r * h[j];
  }
}

SYNCLINE_CLONES void gruCandidate(const CellStep &step, const float *candidate) {
  const auto [x, product, first, second, h, c, gates, newC, newH, n] = step;
#pragma omp simd
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t at = 2 * n + j;
    const float made = hyperbolicTangent(x[at] + candidate[j] + (first[at] + second[at]));
    const float z = gates[j];
    gates[at] = made;
    newH[j] = (1 - z) * made + z * h[j];
  }
}

SYNCLINE_CLONES void gruResetAfterCell(const CellStep &step) {
  const auto [x, product, first, second, h, c, gates, newC, newH, n] = step;
#pragma omp simd
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t at = 2 * n + j;
    const float z = sigmoid(x[j] + product[j] + (first[j] + second[j]));
    const float r = sigmoid(x[n + j] + product[n + j] + (first[n + j] + second[n + j]));
    const float reset = product[at] + second[at];
    const float made = hyperbolicTangent(x[at] + first[at] + r * reset);
    gates[j] = z;
    gates[n + j] = r;
    gates[at] = made;
    gates[3 * n + j] = reset;
    newH[j] = (1 - z) * made + z * h[j];
  }
}

SYNCLINE_CLONES void rnnCell(const CellStep &step, bool isRelu) {
  const auto [x, product, first, second, h, c, gates, newC, newH, n] = step;
  if (isRelu) {
#pragma omp simd
    for (std::int64_t j = 0; j < n; ++j) {
      const float sum = x[j] + product[j] + (first[j] + second[j]);
      newH[j] = sum < 0 ? 0 : sum;
    }
    return;
  }
#pragma omp simd
  for (std::int64_t j = 0; j < n; ++j)
    newH[j] = hyperbolicTangent(x[j] + product[j] + (first[j] + second[j]));
}

SYNCLINE_CLONES void lstmCellBackward(const CellGradient &of) {
  const auto [gates, c, h, oldC, oldH, dh, dc, dx, n] = of;
#pragma omp simd
  for (std::int64_t j = 0; j < n; ++j) {
    const float i = gates[j], o = gates[n + j], f = gates[2 * n + j], g = gates[3 * n + j];
    const float bent = hyperbolicTangent(c[j]);
    const float dstate = dc[j] + dh[j] * o * (1 - bent * bent);
    dx[j] = dstate * g * i * (1 - i);
    dx[n + j] = dh[j] * bent * o * (1 - o);
    dx[2 * n + j] = dstate * oldC[j] * f * (1 - f);
    dx[3 * n + j] = dstate * i * (1 - g * g);
    dc[j] = dstate * f;
    dh[j] = 0;
  }
}

SYNCLINE_CLONES void gruCandidateBackward(const CellGradient &of) {
  const auto [gates, c, h, oldC, oldH, dh, dc, dx, n] = of;
#pragma omp simd
  for (std::int64_t j = 0; j < n; ++j) {
    const float z = gates[j], made = gates[2 * n + j];
    dx[j] = dh[j] * (oldH[j] - made) * z * (1 - z);
    dx[2 * n + j] = dh[j] * (1 - z) * (1 - made * made);
    dh[j] *= z;
  }
}

SYNCLINE_CLONES void gruGatesBackward(const CellGradient &of, const float *dscaled, float *scaled) {
  const auto [gates, c, h, oldC, oldH, dh, dc, dx, n] = of;
#pragma omp simd
  for (std::int64_t j = 0; j < n; ++j) {
    const float r = gates[n + j];
    dx[n + j] = dscaled[j] * oldH[j] * r * (1 - r);
    scaled[j] = r * oldH[j];
    dh[j] += dscaled[j] * r;
  }
}

SYNCLINE_CLONES void gruResetAfterCellBackward(const CellGradient &of, float *dproduct) {
  const auto [gates, c, h, oldC, oldH, dh, dc, dx, n] = of;
#pragma omp simd
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t at = 2 * n + j;
    const float z = gates[j], r = gates[n + j], made = gates[at], reset = gates[3 * n + j];
    const float dz = dh[j] * (oldH[j] - made) * z * (1 - z);
    const float dmade = dh[j] * (1 - z) * (1 - made * made);
    const float dr = dmade * reset * r * (1 - r);
    dx[j] = dproduct[j] = dz;
    dx[n + j] = dproduct[n + j] = dr;
    dx[at] = dmade;
    dproduct[at] = dmade * r;
    dh[j] *= z;
  }
}

SYNCLINE_CLONES void rnnCellBackward(const CellGradient &of, bool isRelu) {
  const auto [gates, c, h, oldC, oldH, dh, dc, dx, n] = of;
  if (isRelu) {
#pragma omp simd
    for (std::int64_t j = 0; j < n; ++j) {
      dx[j] = h[j] <= 0 ? 0 : dh[j];
      dh[j] = 0;
    }
    return;
  }
#pragma omp simd
  for (std::int64_t j = 0; j < n; ++j) {
    dx[j] = dh[j] * (1 - h[j] * h[j]);
    dh[j] = 0;
  }
}

} // namespace syncline::cpu
