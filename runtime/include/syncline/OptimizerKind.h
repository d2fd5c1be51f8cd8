// The optimizers, and their names in files and on command lines.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace syncline {

/// How parameters follow their gradients.
enum class OptimizerKind {
  sgd,   ///< torch.optim.SGD
  adam,  ///< torch.optim.Adam: weight decay is part of the gradient
  adamw, ///< torch.optim.AdamW: weight decay shrinks the parameter itself
  lamb,  ///< LAMB: each parameter's step is as long as the parameter, times the rate
};

inline constexpr std::array allOptimizers{OptimizerKind::sgd, OptimizerKind::adam,
                                          OptimizerKind::adamw, OptimizerKind::lamb};

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"

/// The name as plans and command lines spell it.
constexpr std::string_view optimizerName(OptimizerKind kind) {
  switch (kind) {
  case OptimizerKind::sgd:
    return "sgd";
  case OptimizerKind::adam:
    return "adam";
  case OptimizerKind::adamw:
    return "adamw";
  case OptimizerKind::lamb:
    return "lamb";
  }
  return {};
}

/// The most numbers that an optimizer keeps for each parameter. SGD keeps one, with momentum only.
constexpr int stateSlots(OptimizerKind kind) {
  switch (kind) {
  case OptimizerKind::sgd:
    return 1;
  case OptimizerKind::adam:
  case OptimizerKind::adamw:
  case OptimizerKind::lamb:
    return 2;
  }
  return 0;
}

/// Whether an update needs norms of whole parameters, so that no message may carry a part of one.
constexpr bool needsWholeParameters(OptimizerKind kind) { return kind == OptimizerKind::lamb; }

#pragma GCC diagnostic pop

/// The inverse of optimizerName; nothing when no optimizer has that name.
constexpr std::optional<OptimizerKind> parseOptimizer(std::string_view name) {
  for (const OptimizerKind each : allOptimizers)
    if (optimizerName(each) == name)
      return each;
  return std::nullopt;
}

} // namespace syncline
