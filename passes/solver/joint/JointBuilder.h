// JointBuilder: joint problems from gradients and a cluster, with every scheme the two allow.
#pragma once

#include "passes/solver/joint/JointProblem.h"
#include "passes/solver/joint/SchemeCost.h"

#include <optional>
#include <span>
#include <vector>

namespace syncline::solver {

/// One gradient, in backward order.
struct Gradient {
  std::int64_t bytes = 0;
  double ready = 0;               ///< seconds from the start of the step
  std::optional<Factors> factors; ///< where it can be rebuilt from gathered ones
  /// The gradient whose gathered factors contain this one's: a bias's weight.
  std::optional<std::size_t> carrier;
};

/// What the cluster offers.
struct ClusterOffer {
  int ranks = 1;
  /// All-reduces of all kinds, reduce-scatter + all-gather and hierarchical ones included: lane 0.
  std::vector<SchemeOption> collectives;
  /// Where set: one more scheme of lane 0, or where the servers' memory is limited or there are no
  /// collectives, a lane of its own.
  std::optional<SchemeOption> servers;
  std::int64_t serverMemory = unlimited;   ///< bytes of parameters that all servers hold together
  std::int64_t largestMessage = unlimited; ///< of every lane: the memory of one bucket
  /// Factors are offered where set: an all-gather's time for the bytes that one rank contributes.
  std::shared_ptr<const CollectiveCost> factorGather;
};

/// Lane options for the four all-reduces and reduce-scatter by formula.
std::vector<SchemeOption> formulaCollectives(int ranks, const LinkRates &rates);

/// Servers by formula.
SchemeOption serverOption(const ServerLayout &layout);

/// Every gradient may travel in every lane; by factors those that have them. With one rank there
/// is nothing to gather and factors are not offered. A carrier without a solo is dropped. The
/// result is valid when the gradients are (see validate). computeFree is when the backward pass is
/// over.
JointProblem buildJointProblem(std::span<const Gradient> gradients, const ClusterOffer &offer,
                               double computeFree);

} // namespace syncline::solver
