// The optimizer's switches: rates, decays and moments, for all parameters and for groups of them.
#pragma once

#include "runtime/core/OptimizerOptions.h"
#include "runtime/core/StepTypes.h"
#include "runtime/run/LossScale.h"
#include "syncline/Status.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace syncline::run {

/// What the command line says; what it leaves out has the optimizer's default in PyTorch.
struct OptimizerFlags {
  std::optional<double> rate, momentum, weightDecay, epsilon;
  std::optional<double> clipNorm, clipValue; ///< without them nothing is clipped
  std::optional<LossScale> lossScale;        ///< without it the loss is not scaled
  std::optional<std::pair<double, double>> betas;
  bool nesterov = false;

  /// Parameters whose names match a glob (`*`, `?`, `[abc]`).
  struct Group {
    std::string text, glob;
    std::optional<double> rate, weightDecay;
  };
  /// A parameter belongs to the last group that matches it.
  std::vector<Group> groups;

  void addTo(CLI::App &app);
  /// Ok when the flags agree with each other; otherwise badUsage.
  Status check() const;
  /// The plan's optimizer with these flags. Errors: badUsage for a flag that it does not have.
  Result<core::OptimizerOptions> optionsFor(OptimizerKind kind) const;
  /// What the groups change, by the index of the parameter among `tensors`. Errors: badInput for a
  /// group that no parameter's name matches.
  Result<std::map<int, core::ParameterRule>> rules(std::span<const core::StepTensor> tensors,
                                                   const core::OptimizerOptions &options) const;
  /// Flags that choose these options, as text.
  std::string text(const core::OptimizerOptions &options) const;
};

} // namespace syncline::run
