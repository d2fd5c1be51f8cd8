// The optimizers in one form, so that each backend needs one loop over a bucket for all of them.
#pragma once

#include "runtime/core/Adam.h"
#include "runtime/core/Sgd.h"

#include <cstdlib>

namespace syncline::core {

/// A rule updates one element by rule(w, g, a, b). `a` and `b` are the element's state of slots 0
/// and 1; a rule with fewer slots leaves them as they are. Before the first element, correct()
/// tells it the update's correction. Before that, setRate() may give it a rate in place of the
/// options' one.
struct PlainRule {
  static constexpr int slots = 0;
  SgdConstants k;
  SYNCLINE_HOST_DEVICE void setRate(double rate) { k.rate = static_cast<float>(rate); }
  SYNCLINE_HOST_DEVICE void correct(const AdamCorrection &) {}
  SYNCLINE_HOST_DEVICE void operator()(float &w, float g, float &, float &) const {
    sgdPlain(w, g, k);
  }
};

template <bool nesterov> struct MomentumRule {
  static constexpr int slots = 1;
  SgdConstants k;
  SYNCLINE_HOST_DEVICE void setRate(double rate) { k.rate = static_cast<float>(rate); }
  SYNCLINE_HOST_DEVICE void correct(const AdamCorrection &) {}
  SYNCLINE_HOST_DEVICE void operator()(float &w, float g, float &a, float &) const {
    sgdMomentum<nesterov>(w, g, a, k);
  }
};

template <bool decoupled> struct AdamRule {
  static constexpr int slots = 2;
  AdamConstants k;
  double rate, weightDecay;
  SYNCLINE_HOST_DEVICE void setRate(double other) {
    rate = other;
    if (decoupled)
      k.decay = decoupledDecay(rate, weightDecay);
  }
  SYNCLINE_HOST_DEVICE void correct(const AdamCorrection &correction) {
    k.step = static_cast<float>(rate * correction.first);
    k.root = static_cast<float>(correction.second);
  }
  SYNCLINE_HOST_DEVICE void operator()(float &w, float g, float &a, float &b) const {
    adamElement<decoupled>(w, g, a, b, k);
  }
};

/// Calls body(rule) with the rule of these options. Gradients are first multiplied by `scale`.
/// Precondition: an optimizer whose update is one pass over memory, as it is of all but LAMB.
template <typename Body>
auto withRule(const OptimizerOptions &options, double scale, const Body &body) {
  switch (options.kind) {
  case OptimizerKind::adam:
    return body(AdamRule<false>{adamConstants(options, scale), options.rate, options.weightDecay});
  case OptimizerKind::adamw:
    return body(AdamRule<true>{adamConstants(options, scale), options.rate, options.weightDecay});
  case OptimizerKind::lamb:
    std::abort();
  case OptimizerKind::sgd:
    break;
  }
  const SgdConstants k = sgdConstants(options, scale);
  if (options.momentum == 0)
    return body(PlainRule{k});
  return options.nesterov ? body(MomentumRule<true>{k}) : body(MomentumRule<false>{k});
}

/// Applies OptimizerOptions::keepsFinite to one element. Returns whether the element was kept. The
/// check uses that x - x is 0 for every finite x, in a form that vectorises. A second moment may
/// overflow where the weight does not.
template <typename Rule>
SYNCLINE_HOST_DEVICE inline bool updateFinite(float &w, float g, float &a, float &b,
                                              const Rule &rule) {
  float weight = w, first = a, second = b;
  rule(weight, g, first, second);
  const bool isFinite = weight - weight == 0 && (Rule::slots < 2 || second - second == 0);
  w = isFinite ? weight : w;
  a = isFinite ? first : a;
  b = isFinite ? second : b;
  return !isFinite;
}

} // namespace syncline::core
