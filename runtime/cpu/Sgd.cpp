// SGD in one pass, one specialised loop per combination of switches so that each vectorises.
#include "runtime/cpu/Sgd.h"
#include "runtime/core/Sgd.h"
#include "runtime/cpu/Loops.h"

namespace syncline::cpu {

namespace {

void plainPart(float *w, const float *g, std::int64_t n, const SgdConstants k) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    sgdPlain(w[i], g[i], k);
}

template <bool nesterov>
void momentumPart(float *w, const float *g, float *v, std::int64_t n, const SgdConstants k) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    sgdMomentum<nesterov>(w[i], g[i], v[i], k);
}

} // namespace

void sgdUpdate(float *parameters, const float *gradients, float *velocity, std::int64_t n,
               const SgdOptions &options, double scale) {
  const SgdConstants k = sgdConstants(options, scale);
  parallelParts(n, [&](std::int64_t begin, std::int64_t end) {
    float *w = parameters + begin;
    const float *g = gradients + begin;
    if (options.momentum == 0)
      plainPart(w, g, end - begin, k);
    else if (options.nesterov)
      momentumPart<true>(w, g, velocity + begin, end - begin, k);
    else
      momentumPart<false>(w, g, velocity + begin, end - begin, k);
  });
}

} // namespace syncline::cpu
