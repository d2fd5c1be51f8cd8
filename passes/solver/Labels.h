// Labels: the forward search over states of partial plans, layer by layer, that keeps only states
// which no other is at least as good as and which may still beat a target.
#pragma once

#include "passes/problem/Problem.h"
#include "passes/solver/StateBound.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace syncline::solver {

using namespace problem;

struct LabelSearch {
  /// The choices of a plan that finishes first, where one beats the target.
  std::optional<std::vector<Choice>> choices;
  double finish = 0; ///< of that plan, seconds
  /// More states were alive than allowed, and those with the least slack were cut: then nothing is
  /// proved.
  bool isCut = false;
  std::size_t labels = 0; ///< kept, over all layers
};

/// Objective: the earliest finish before `target`. Guarantee: where nothing was cut, no plan
/// finishes earlier than the one found, or none before the target where none was (up to 1e-12 of
/// it). Where `proving`, the search gives up at the first cut. Deterministic. Time: layers times
/// kept states times those compared with them. `bound` must be of the same problem and target.
/// Where `kept` is given it gets the states, one list more than layers: a certificate's, where
/// nothing was cut. Precondition: valid, at least one layer, most >= 1.
LabelSearch searchLabels(const Problem &problem, const StateBound &bound, double target,
                         std::size_t most, bool proving = false,
                         std::vector<std::vector<PlanState>> *kept = nullptr);

} // namespace syncline::solver
