// SGD in one pass, one specialised loop per combination of switches so that each vectorises.
#include "runtime/cpu/Sgd.h"
#include "runtime/cpu/Loops.h"

namespace syncline::cpu {

namespace {

struct Constants {
  float rate, momentum, decay, scale;
};

void plainPart(float *w, const float *g, std::int64_t n, const Constants k) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    w[i] -= k.rate * (g[i] * k.scale + k.decay * w[i]);
}

template <bool nesterov>
void momentumPart(float *w, const float *g, float *v, std::int64_t n, const Constants k) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const float gradient = g[i] * k.scale + k.decay * w[i];
    const float velocity = k.momentum * v[i] + gradient;
    v[i] = velocity;
    w[i] -= k.rate * (nesterov ? gradient + k.momentum * velocity : velocity);
  }
}

} // namespace

void sgdUpdate(float *parameters, const float *gradients, float *velocity, std::int64_t n,
               const SgdOptions &options, double scale) {
  const Constants k{static_cast<float>(options.rate), static_cast<float>(options.momentum),
                    static_cast<float>(options.weightDecay), static_cast<float>(scale)};
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
