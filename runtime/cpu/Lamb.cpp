// The loops of both passes, over equal blocks for any number of threads.
#include "runtime/cpu/Lamb.h"
#include "runtime/core/Lamb.h"
#include "runtime/cpu/KeptElements.h"
#include "runtime/cpu/Loops.h"

#include <algorithm>
#include <atomic>
#include <vector>

namespace syncline::cpu {

namespace {

template <bool keepsFinite>
core::LambSquares momentsOfPart(const float *w, const float *g, float *m, float *v, std::int64_t n,
                                const core::AdamConstants k) {
  double weights = 0, directions = 0;
#pragma omp simd reduction(+ : weights, directions)
  for (std::int64_t i = 0; i < n; ++i) {
    float first = m[i], second = v[i];
    core::lambMoments(g[i], first, second, k);
    const double weight = w[i];
    const double direction = core::lambDirection(w[i], first, second, k);
    weights += weight * weight;
    directions += direction * direction;
    if constexpr (keepsFinite) {
      directions += core::lambExcess(first, second);
      const std::uint32_t mask = finiteMask(core::lambExcess(first, second));
      m[i] = chosen(mask, first, m[i]);
      v[i] = chosen(mask, second, v[i]);
    } else {
      m[i] = first;
      v[i] = second;
    }
  }
  return {weights, directions};
}

/// Returns whether a weight was kept.
template <bool keepsFinite>
bool weightsOfPart(float *w, const float *m, const float *v, std::int64_t n,
                   const core::AdamConstants k, const float rate) {
  std::uint32_t all = ~std::uint32_t{0};
#pragma omp simd reduction(& : all)
  for (std::int64_t i = 0; i < n; ++i) {
    const float weight = w[i] - rate * core::lambDirection(w[i], m[i], v[i], k);
    if constexpr (keepsFinite) {
      const std::uint32_t mask = finiteMask(weight);
      all &= mask;
      w[i] = chosen(mask, weight, w[i]);
    } else {
      w[i] = weight;
    }
  }
  return all == 0;
}

/// Stores the moments of an update and returns the sums of squares over the part. Where
/// options.keepsFinite keeps an element's moments, the sums are NaN.
core::LambSquares storeMoments(const LambPart &part, double scale,
                               const core::AdamCorrection &correction) {
  constexpr std::int64_t block = 1 << 15;
  const UpdateOperands &operands = part.operands;
  core::AdamConstants k = core::adamConstants(part.options, scale);
  core::correctLamb(k, correction);
  const std::int64_t blocks = (operands.n + block - 1) / block;
  std::vector<core::LambSquares> sums(static_cast<std::size_t>(blocks));
#pragma omp parallel for schedule(static) if (blocks > 1)
  for (std::int64_t i = 0; i < blocks; ++i) {
    const std::int64_t begin = i * block, count = std::min(block, operands.n - begin);
    const float *const w = operands.parameters + begin, *const g = operands.gradients + begin;
    float *const m = operands.state[0] + begin, *const v = operands.state[1] + begin;
    sums[static_cast<std::size_t>(i)] = part.options.keepsFinite
                                            ? momentsOfPart<true>(w, g, m, v, count, k)
                                            : momentsOfPart<false>(w, g, m, v, count, k);
  }
  core::LambSquares all;
  for (const core::LambSquares &each : sums) {
    all.weights += each.weights;
    all.directions += each.directions;
  }
  return all;
}

/// Updates the weights by the stored moments and the sums over the whole parameter. Returns whether
/// options.keepsFinite kept one.
bool updateWeights(const LambPart &part, const core::LambSquares &squares,
                   const core::AdamCorrection &correction) {
  const UpdateOperands &operands = part.operands;
  if (part.options.keepsFinite && core::isLambKept(squares))
    return true;
  core::AdamConstants k = core::adamConstants(part.options, /*scale=*/1);
  core::correctLamb(k, correction);
  const auto rate = static_cast<float>(part.options.rate * core::trustRatio(squares));
  std::atomic<bool> kept = false;
  parallelParts(operands.n, [&](std::int64_t begin, std::int64_t end) {
    float *const w = operands.parameters + begin;
    const float *const m = operands.state[0] + begin, *const v = operands.state[1] + begin;
    if (!part.options.keepsFinite)
      weightsOfPart<false>(w, m, v, end - begin, k, rate);
    else if (weightsOfPart<true>(w, m, v, end - begin, k, rate))
      kept = true;
  });
  return kept;
}

} // namespace

Result<bool> updateByNorms(std::span<const LambPart> parts, double scale,
                           const core::AdamCorrection &correction, std::size_t parameters,
                           const core::SumOverRanks &sum) {
  bool kept = false;
  if (!sum) {
    for (const LambPart &part : parts) // both passes while the part is in the caches
      kept = updateWeights(part, storeMoments(part, scale, correction), correction) || kept;
    return kept;
  }
  std::vector<double> squares(2 * parameters);
  for (const LambPart &part : parts) {
    const core::LambSquares own = storeMoments(part, scale, correction);
    squares[2 * part.place] = own.weights;
    squares[2 * part.place + 1] = own.directions;
  }
  SYNCLINE_TRY(sum(squares));
  for (const LambPart &part : parts) {
    const core::LambSquares all{squares[2 * part.place], squares[2 * part.place + 1]};
    kept = updateWeights(part, all, correction) || kept;
  }
  return kept;
}

} // namespace syncline::cpu
