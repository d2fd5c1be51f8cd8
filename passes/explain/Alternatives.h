// Alternatives: what each scheme would cost for one gradient of a plan.
//
// Functions are pure and thread-safe. Units: seconds and bytes; layers count from zero in
// backward order.
#pragma once

#include "passes/solver/Solver.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace syncline::explain {

/// The cost of sending one or more gradients as one message of some scheme.
struct MessageCost {
  double channel = 0;     ///< seconds on the channel
  double reconstruct = 0; ///< seconds of computation afterwards
  double traffic = 0;     ///< bytes that a node moves, both directions
  double exists = 0;      ///< when the gradients would exist if all else stayed as planned, s
};

/// One scheme that a gradient could use.
struct Alternative {
  Scheme scheme = Scheme::ring;
  bool isChosen = false;
  /// The gradient in a message of its own; a piggyback by factors goes with its carrier.
  MessageCost alone = {};
  /// The gradient's whole bucket, where it has several members and the scheme merges.
  std::optional<MessageCost> bucket = std::nullopt;
  /// The least finish of all plans in which the gradient uses this scheme, as far as a search of
  /// `SolverOptions` finds it; nothing where requestScheme has no such problem.
  std::optional<double> finish = std::nullopt;
};

/// One entry for each scheme that is offered to the layer, in the order of allSchemes(). The entry
/// of the scheme that `plan` has chosen has a `finish` no later than the plan's. Preconditions: the
/// problem is valid and the plan is a solution of it. Time: one search for each scheme.
std::vector<Alternative> alternativesOf(const problem::Problem &problem,
                                        const problem::Solution &plan, std::size_t layer,
                                        const solver::SolverOptions &options = {});

/// When all is done: the backward pass, all messages and all reconstruction. Seconds.
double finishOf(const problem::Problem &problem, const problem::Solution &plan);

} // namespace syncline::explain
