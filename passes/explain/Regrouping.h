// Regrouping: what it costs to change which gradients share a message with a given one.
//
// Functions are pure and thread-safe. Units: seconds and bytes. Layers count from zero in backward
// order, messages from zero in issue order.
#pragma once

#include "passes/problem/OrderProblem.h"
#include "passes/solver/Solver.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace syncline::explain {

/// A change of one message's members. *Before* are gradients that are ready earlier, *behind* those
/// that are ready later, in messages of the same merge class.
enum class Move {
  joinBefore,  ///< the last member of the message before joins it
  joinBehind,  ///< the first member of the message behind joins it
  mergeBefore, ///< the whole message before joins it
  mergeBehind, ///< the whole message behind joins it
  leaveBefore, ///< the first member travels with the message before
  leaveBehind, ///< the last member travels with the message behind
  firstAlone,  ///< the first member travels in a message of its own
  lastAlone,   ///< the last member does
  split,       ///< two messages in place of one, cut where the plan then finishes first
  allAlone,    ///< a message for each member
  oneWhole,    ///< in place of halves (in an order)
};

/// The plan with one change, and all that follows it timed anew.
struct Regrouping {
  Move move = Move::split;
  /// The gradient that joins or leaves; of a split the first one behind the cut.
  std::size_t layer = 0;
  /// A member that waits longer, or less long, than planned, and the gradient for which it waits in
  /// the larger of the two messages.
  std::size_t waiting = 0, awaited = 0;
  double waitingReady = 0, awaitedReady = 0; ///< when these two are ready, s
  std::int64_t bytes = 0;                    ///< of the largest message that the change makes
  /// What is sent; nothing where a message would be larger than its class allows.
  std::optional<problem::Solution> plan = std::nullopt;
  // All of these are 0 without a plan.
  double finish = 0;      ///< when all is done, or the period of an order
  double exposed = 0;     ///< by how much that exceeds computation with reconstruction
  double busy = 0;        ///< how much longer than planned the channel is taken
  double idle = 0;        ///< how much longer it is idle before the last message
  std::int64_t added = 0; ///< messages more than planned
  double latency = 0;     ///< what a message of no bytes takes by the message's scheme
};

/// The message that brings a gradient, and every change of its members.
struct Grouping {
  std::size_t message = 0;
  std::vector<std::size_t> members; ///< ascending, so in the order in which they are ready
  std::int64_t bytes = 0;
  std::int64_t largestMessage = problem::unlimited;
  double finish = 0, exposed = 0; ///< of the plan
  std::size_t splits = 0;         ///< places that were tried for `split`
  std::vector<Regrouping> changes = {};
  /// The least finish of all plans whose messages go by the schemes of this one, as far as a search
  /// of `SolverOptions` finds it: what the planner's rule for cuts costs. Nothing where messages go
  /// by factors or in several merge classes, or by several schemes of which not all are fastest.
  std::optional<double> bestCuts = std::nullopt;
};

/// Every change of the members of the layer's bucket; nothing for a message by factors, which has
/// one member. Where all buckets of the plan go by their class's fastest scheme for their bytes,
/// changed ones do too, else by the scheme of the layer's bucket. Preconditions: the problem is
/// valid, the plan is a solution of it and the layer one of its layers. Time: one search, and
/// linear for a change.
std::optional<Grouping> groupingOf(const problem::Problem &problem, const problem::Solution &plan,
                                   std::size_t layer, const solver::SolverOptions &options = {});

/// As groupingOf, for the message `chosen` of an order, without `bestCuts`. Messages keep their
/// places; two that become one take the better of their places, and two parts the better of their
/// orders. Preconditions: `plan` is a valid order for the problem (proof::checkMessages), `chosen`
/// one of its messages.
std::optional<Grouping> groupingInOrder(const problem::OrderProblem &problem,
                                        const problem::Solution &plan, std::size_t chosen);

/// Seconds of computing gradients from the plan's factors.
double reconstructionOf(const problem::Problem &problem, const problem::Solution &plan);

} // namespace syncline::explain
