// SGD in one pass, with one specialised loop for each combination of options, so that each
// loop vectorises.
#include "runtime/cpu/Sgd.h"
#include "runtime/core/Sgd.h"
#include "runtime/cpu/Loops.h"

#include <atomic>
#include <bit>

namespace syncline::cpu {

using core::SgdConstants;

namespace {

void plainPart(float *w, const float *g, std::int64_t n, const SgdConstants k) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    core::sgdPlain(w[i], g[i], k);
}

/// `now` where `mask` has all bits, `old` where it has none. The operator ?: would become a branch
/// and would not vectorise.
float chosen(std::uint32_t mask, float now, float old) {
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(now) & mask) |
                              (std::bit_cast<std::uint32_t>(old) & ~mask));
}

/// All bits where the value is finite: only then value - value is 0.
std::uint32_t finiteMask(float value) { return value - value == 0 ? ~std::uint32_t{0} : 0; }

bool plainPartKept(float *w, const float *g, std::int64_t n, const SgdConstants k) {
  std::uint32_t all = ~std::uint32_t{0};
#pragma omp simd reduction(& : all)
  for (std::int64_t i = 0; i < n; ++i) {
    float weight = w[i];
    core::sgdPlain(weight, g[i], k);
    const std::uint32_t mask = finiteMask(weight);
    all &= mask;
    w[i] = chosen(mask, weight, w[i]);
  }
  return all == 0;
}

template <bool nesterov>
void momentumPart(float *w, const float *g, float *v, std::int64_t n, const SgdConstants k) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    core::sgdMomentum<nesterov>(w[i], g[i], v[i], k);
}

template <bool nesterov>
bool momentumPartKept(float *w, const float *g, float *v, std::int64_t n, const SgdConstants k) {
  std::uint32_t all = ~std::uint32_t{0};
#pragma omp simd reduction(& : all)
  for (std::int64_t i = 0; i < n; ++i) {
    float weight = w[i], velocity = v[i];
    core::sgdMomentum<nesterov>(weight, g[i], velocity, k);
    const std::uint32_t mask = finiteMask(weight);
    all &= mask;
    w[i] = chosen(mask, weight, w[i]);
    v[i] = chosen(mask, velocity, v[i]);
  }
  return all == 0;
}

template <bool nesterov>
bool momentumPart(float *w, const float *g, float *v, std::int64_t n, const SgdConstants k,
                  bool keepsFinite) {
  if (keepsFinite)
    return momentumPartKept<nesterov>(w, g, v, n, k);
  momentumPart<nesterov>(w, g, v, n, k);
  return false;
}

bool updatePart(float *w, const float *g, float *v, std::int64_t n, const core::SgdOptions &options,
                const SgdConstants &k) {
  if (options.momentum != 0)
    return options.nesterov ? momentumPart<true>(w, g, v, n, k, options.keepsFinite)
                            : momentumPart<false>(w, g, v, n, k, options.keepsFinite);
  if (options.keepsFinite)
    return plainPartKept(w, g, n, k);
  plainPart(w, g, n, k);
  return false;
}

} // namespace

bool sgdUpdate(float *parameters, const float *gradients, float *velocity, std::int64_t n,
               const core::SgdOptions &options, double scale) {
  const SgdConstants k = core::sgdConstants(options, scale);
  std::atomic<bool> kept = false;
  parallelParts(n, [&](std::int64_t begin, std::int64_t end) {
    float *v = velocity ? velocity + begin : nullptr;
    if (updatePart(parameters + begin, gradients + begin, v, end - begin, options, k))
      kept = true;
  });
  return kept;
}

} // namespace syncline::cpu
