// What exchanges of weights do with one element, on hosts and devices alike.
#pragma once

#include "runtime/core/HostDevice.h"

namespace syncline::core {

/// The outer optimizer of DiLoCo, SGD with Nesterov's momentum (Douillard et al., arXiv
/// 2311.08105), and what a rank then keeps of its own weights (Streaming DiLoCo, arXiv 2501.18512):
///
///     d = scale·sum,  v ← momentum·v + d,  c ← c - rate·(d + momentum·v),  w ← (1 - mix)·c + mix·w
///
/// Without momentum v is neither read nor written.
struct OuterStep {
  float scale = 1; ///< 1 / ranks
  float rate = 1, momentum = 0, mix = 0;

  SYNCLINE_HOST_DEVICE void operator()(float &weight, float &common, float &velocity,
                                       float sum) const {
    float step = sum * scale;
    if (momentum > 0) {
      velocity = momentum * velocity + step;
      step += momentum * velocity;
    }
    common -= rate * step;
    weight = mix == 0 ? common : (1 - mix) * common + mix * weight;
  }
};

/// The step of a rank and of EASGD's centre towards each other (Zhang et al., 2015; synchronous
/// forms: You et al., SC 2017). `own` is the rank's weight before the step that `weight` has made,
/// and `sum` that of all ranks:
///
///     w ← w - share·(own - c),  c ← c + share·(sum - ranks·c)
struct ElasticPull {
  float share = 0; ///< learning rate times rho
  float ranks = 1;

  SYNCLINE_HOST_DEVICE void operator()(float &weight, float &centre, float own, float sum) const {
    weight -= share * (own - centre);
    centre += share * (sum - ranks * centre);
  }
};

} // namespace syncline::core
