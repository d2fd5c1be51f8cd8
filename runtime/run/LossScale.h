// The factor by which the loss's gradient is multiplied, so that small gradients survive fp16.
#pragma once

#include "syncline/Status.h"

#include <cstdint>
#include <string>

namespace syncline::run {

/// A fixed scale, or a dynamic one with the rules and numbers of PyTorch's torch.amp.GradScaler: a
/// step whose gradients are not all finite is skipped and halves the scale; 2000 steps in a row
/// that are not skipped double it. A dynamic scale stays at 1 or above. At 1 it changes nothing, so
/// that a step which is not finite then is not skipped, and ends the run as it would without.
class LossScale {
public:
  static constexpr double firstDynamic = 65536;
  static constexpr std::int64_t growthSteps = 2000;
  static constexpr double largest = 1e30;

  static LossScale fixed(double value) { return {value, false}; }
  static LossScale dynamic() { return {firstDynamic, true}; }
  /// Reads "dynamic" or a number from 1 to `largest`. Errors: badUsage, saying what was expected.
  static Result<LossScale> parse(const std::string &text);

  double value() const { return state.value; }
  /// Whether a step whose gradients are not finite is skipped.
  bool skips() const { return !isDynamic || state.value > 1; }
  /// Counts a step; `isSkipped` says that its gradients were not finite.
  void count(bool isSkipped);

  /// What a run that goes on needs.
  struct State {
    double value = 1;
    std::int64_t good = 0;    ///< steps in a row without a skipped one
    std::int64_t skipped = 0; ///< steps in all, which updated nothing
  };
  const State &now() const { return state; }
  /// Goes on from `saved`; a fixed scale keeps its value.
  void resume(const State &saved);
  /// The text that parse() reads.
  std::string text() const;

private:
  LossScale(double value, bool isDynamic) : isDynamic(isDynamic), state{value} {}

  bool isDynamic;
  State state;
};

} // namespace syncline::run
