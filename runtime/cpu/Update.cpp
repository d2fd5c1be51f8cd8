// Every optimizer but LAMB in one pass, with one loop for each rule, so that it vectorises.
#include "runtime/cpu/Update.h"
#include "runtime/core/UpdateRules.h"
#include "runtime/cpu/KeptElements.h"
#include "runtime/cpu/Loops.h"

#include <atomic>

namespace syncline::cpu {

namespace {

template <typename Rule>
void updatePart(float *w, const float *g, float *a, float *b, std::int64_t n, const Rule rule) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    float weight = w[i], first = 0, second = 0;
    if constexpr (Rule::slots > 0)
      first = a[i];
    if constexpr (Rule::slots > 1)
      second = b[i];
    rule(weight, g[i], first, second);
    w[i] = weight;
    if constexpr (Rule::slots > 0)
      a[i] = first;
    if constexpr (Rule::slots > 1)
      b[i] = second;
  }
}

/// As updatePart(), but elements as core::updateFinite() says. Returns whether one was kept.
template <typename Rule>
bool updatePartKept(float *w, const float *g, float *a, float *b, std::int64_t n, const Rule rule) {
  std::uint32_t all = ~std::uint32_t{0};
#pragma omp simd reduction(& : all)
  for (std::int64_t i = 0; i < n; ++i) {
    float weight = w[i], first = 0, second = 0;
    if constexpr (Rule::slots > 0)
      first = a[i];
    if constexpr (Rule::slots > 1)
      second = b[i];
    rule(weight, g[i], first, second);
    std::uint32_t mask = finiteMask(weight);
    if constexpr (Rule::slots > 1)
      mask &= finiteMask(second);
    all &= mask;
    w[i] = chosen(mask, weight, w[i]);
    if constexpr (Rule::slots > 0)
      a[i] = chosen(mask, first, a[i]);
    if constexpr (Rule::slots > 1)
      b[i] = chosen(mask, second, b[i]);
  }
  return all == 0;
}

} // namespace

bool updateElements(const UpdateOperands &operands, const core::OptimizerOptions &options,
                    double scale, const core::AdamCorrection &correction) {
  std::atomic<bool> kept = false;
  core::withRule(options, scale, [&](auto rule) {
    rule.correct(correction);
    parallelParts(operands.n, [&](std::int64_t begin, std::int64_t end) {
      const auto at = [&](auto *data) { return data ? data + begin : nullptr; };
      float *w = at(operands.parameters), *a = at(operands.state[0]), *b = at(operands.state[1]);
      const float *g = at(operands.gradients);
      if (!options.keepsFinite)
        updatePart(w, g, a, b, end - begin, rule);
      else if (updatePartKept(w, g, a, b, end - begin, rule))
        kept = true;
    });
  });
  return kept;
}

} // namespace syncline::cpu
