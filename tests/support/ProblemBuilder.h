// Problems of invented gradients, with every scheme that an invented cluster
// allows, for tests and benches of planners. What `compile` poses is passes/merge/Instance.h's.
#pragma once

#include "passes/problem/Problem.h"
#include "passes/problem/SchemeCost.h"

#include <optional>
#include <span>
#include <vector>

namespace syncline::problem {

/// A matrix gradient that is a sum of outer products: x^T dy with x of samples x inputs, dy of
/// samples x outputs.
struct FactorShape {
  std::int64_t inputs = 0;  ///< M
  std::int64_t outputs = 0; ///< N'
  std::int64_t samples = 0; ///< K on one rank: the batch, times tokens or pixels
  int elementBytes = 4;

  /// The gradient's bytes.
  std::int64_t bytes() const { return inputs * outputs * elementBytes; }
  /// The bytes of one rank's two factors.
  std::int64_t factorBytes() const { return samples * (inputs + outputs) * elementBytes; }
};

/// A gradient that can be reconstructed from what the ranks gather: a matrix's (see factorsOf), or
/// any other that an operation computes from two tensors, sample by sample.
struct Factors {
  std::int64_t bytes = 0; ///< of one rank's two factors
  double reconstruct = 0; ///< seconds to reconstruct one rank's share
};

/// A matrix gradient's: K outer products on a device of so many operations per second.
Factors factorsOf(const FactorShape &shape, double operationsPerSecond);

/// One gradient. Gradients stand in backward order.
struct Gradient {
  std::int64_t bytes = 0;
  double ready = 0;               ///< seconds from the start of the step
  std::optional<Factors> factors; ///< where it can be reconstructed from gathered ones
  /// The gradient whose gathered factors contain this one's: a bias's weight.
  std::optional<std::size_t> carrier;
};

/// What the cluster offers.
struct ClusterSchemes {
  int ranks = 1;
  /// All-reduces of all kinds, reduce-scatter + all-gather and hierarchical ones included: merge
  /// class 0.
  std::vector<SchemeOption> collectives;
  /// Where set: one more scheme of merge class 0, or where the servers' memory is limited or there
  /// are no collectives, a merge class of its own.
  std::optional<SchemeOption> servers;
  std::int64_t serverMemory = unlimited;   ///< bytes of parameters that all servers hold together
  std::int64_t largestMessage = unlimited; ///< of every merge class: the memory of one bucket
  /// Factors are offered where set: an all-gather's time for the bytes that one rank contributes.
  std::shared_ptr<const CollectiveCost> factorGather;
};

/// The schemes with a formula, as a merge class's options.
std::vector<SchemeOption> formulaCollectives(int ranks, const LinkRates &rates);

/// Parameter servers by formula, as a merge class's option.
SchemeOption serverOption(const ServerLayout &layout);

/// Every gradient may travel in every merge class; by factors those that have them. With one rank
/// there is nothing to gather and factors are not offered. A carrier without a factor option is
/// dropped. The result is valid when the gradients are (see validate). computeFree is when the
/// backward pass is over.
Problem buildProblem(std::span<const Gradient> gradients, const ClusterSchemes &catalog,
                     double computeFree);

/// A problem of merging alone: all layers in one merge class without limits.
Problem problemOf(const MergeProblem &merge);

} // namespace syncline::problem
