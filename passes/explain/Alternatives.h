// Alternatives: what every other scheme would have meant for one gradient of a plan.
//
// Pure and thread-safe. Units: seconds and bytes; layers count from zero in backward order.
#pragma once

#include "passes/solver/Solver.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace syncline::explain {

/// What two or more gradients, or one, would do as one message of some scheme.
struct MessageCost {
  double channel = 0;     ///< seconds on the channel
  double reconstruct = 0; ///< seconds of computation afterwards
  double traffic = 0;     ///< bytes a node moves, both directions
  double exists = 0;      ///< when the gradient would exist if everything else stayed as planned
};

/// One scheme that a gradient could travel by.
struct Alternative {
  Scheme scheme = Scheme::ring;
  bool isChosen = false;
  /// In a message of its own; a piggyback by factors: with its carrier.
  MessageCost alone = {};
  /// Its whole bucket, where it has one of several members and the scheme merges.
  std::optional<MessageCost> bucket = std::nullopt;
  /// The least finish of all plans in which the gradient travels so, as far as a search of
  /// `SolverOptions` finds it; nothing where that cannot be asked (see forceScheme).
  std::optional<double> finish = std::nullopt;
};

/// One entry for each scheme that is offered to the layer, in the order of solver::Scheme. Of the
/// scheme that `plan` has chosen, `finish` is no later than the plan's. Preconditions: the problem
/// is valid, the plan one of it. Time: a search for each scheme.
std::vector<Alternative> alternativesOf(const problem::Problem &problem,
                                        const problem::Solution &plan, std::size_t layer,
                                        const solver::SolverOptions &options = {});

/// When everything is done: the backward pass, all messages and all reconstruction.
double finishOf(const problem::Problem &problem, const problem::Solution &plan);

} // namespace syncline::explain
