// What an optimizer computes: PyTorch's optimizers of these names, and LAMB.
#pragma once

#include "syncline/OptimizerKind.h"

#include <limits>
#include <optional>

namespace syncline::core {

/// With g the mean of the gradients over the ranks, clipped, and w a parameter, SGD is
/// torch.optim.SGD with dampening 0:
///
///     g ← g + weightDecay·w
///     v ← momentum·v + g
///     w ← w - rate·(nesterov ? g + momentum·v : momentum ? v : g)
///
/// Adam and AdamW are torch.optim.Adam and AdamW without amsgrad. In the t-th update of a parameter
///
///     g ← g + weightDecay·w                 (Adam)
///     w ← w - rate·weightDecay·w            (AdamW)
///     m ← beta1·m + (1 - beta1)·g
///     v ← beta2·v + (1 - beta2)·g²
///     w ← w - rate/(1 - beta1^t)·m / (√v/√(1 - beta2^t) + epsilon)
///
/// LAMB is in Lamb.h.
struct OptimizerOptions {
  double rate = 0.01;
  double momentum = 0; ///< SGD
  double weightDecay = 0;
  bool nesterov = false; ///< SGD
  /// An element whose update would not be finite keeps its value and its state, and
  /// metNonFinite() reports it. With LAMB all weights of its parameter keep their values.
  bool keepsFinite = false;
  OptimizerKind kind = OptimizerKind::sgd;
  double beta1 = 0.9, beta2 = 0.999; ///< not SGD; 0 to below 1
  double epsilon = 1e-8;             ///< not SGD; above 0
  /// Where StepRunner::addSquares() gives the gradients' norm, they are multiplied by
  /// clipFactor(norm, clipNorm) first.
  double clipNorm = std::numeric_limits<double>::infinity();
  /// Then each element is set to the nearest value in [-clipValue, clipValue]. Not a number stays.
  double clipValue = std::numeric_limits<double>::infinity();

  /// Numbers that are kept for each parameter.
  int slots() const { return kind == OptimizerKind::sgd && momentum == 0 ? 0 : stateSlots(kind); }
};

/// What differs from OptimizerOptions for one parameter.
struct ParameterRule {
  double rateFactor = 1; ///< its rate divided by OptimizerOptions::rate
  std::optional<double> weightDecay;
  bool operator==(const ParameterRule &) const = default;
};

} // namespace syncline::core
