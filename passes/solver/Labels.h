// Labels: the forward search over states of partial solutions, layer by layer. It keeps a state
// only if no other state is at least as good and the state may still beat a target.
#pragma once

#include "passes/problem/Problem.h"
#include "passes/solver/StateBound.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace syncline::solver {

using namespace problem;

/// The result of a search.
struct LabelSearch {
  /// The choices of the solution that finishes first, where one beats the target.
  std::optional<std::vector<Choice>> choices;
  /// Whether more states were alive than allowed, so that those with the least slack were cut.
  /// Nothing is proved then.
  bool isCut = false;
};

/// Objective: the earliest finish before `target`. Guarantee: where nothing was cut, no solution
/// finishes earlier than the one that was found, or than the target where none was found (up to
/// 1e-12 of it). With `proving` the search gives up at the first cut. Deterministic. Time: layers
/// times kept states times the states each is compared with.
///
/// `bound` must belong to the same problem and target. Precondition: the problem is valid and has a
/// layer; most >= 1.
LabelSearch searchLabels(const Problem &problem, const StateBound &bound, double target,
                         std::size_t most, bool proving = false);

} // namespace syncline::solver
