// From plans in the IR to scenarios.
#pragma once

#include "ir/cluster/Cluster.h"
#include "passes/merge/PlannedProblem.h"
#include "passes/problem/Problem.h"
#include "passes/simulate/Scenario.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>
#include <vector>

namespace syncline::simulate {

/// `spec` as structs. A node's slowdown holds for its ranks.
Machines machinesOf(cluster::SpecAttr spec);

/// What is different from the plan in one simulation.
struct Elsewhere {
  cluster::SpecAttr cluster; ///< the plan's own, or another
  double batch = 1;          ///< samples, as a multiple of the plan's
};

/// A module that `compile` wrote, read once: its operations, its problem and the answer. Refers to
/// attributes of the module, which must outlive it.
class SimulatedPlan {
public:
  /// badInput where the module is no plan; a diagnostic is emitted where its problem or solution is
  /// not valid.
  static Result<SimulatedPlan> create(mlir::ModuleOp module);

  /// The plan itself, operation by operation as it is issued (of a trace: layer by layer), on
  /// another cluster's network, servers and slowdowns. Operations take the time that they were
  /// planned with, but for the slowdowns. badInput where that cluster knows nothing of a scheme.
  Result<Scenario> asPlanned(cluster::SpecAttr cluster) const;

  /// The problem posed there, with these decisions: what computes is known gradient by gradient
  /// only. `posed` comes from problem().poseOn of the same cluster and batch; of `decisions` only
  /// messages' layers and options count.
  Result<Scenario> withDecisions(const problem::Problem &posed, const problem::Solution &decisions,
                                 const Elsewhere &where) const;

  /// One device without slowdown by itself: it computes what a rank does and updates all
  /// parameters, and sends nothing. With so many times the plan's samples. Machines have one rank.
  Scenario alone(double batch) const;

  /// Bytes of the tensors of a plan with these decisions, on every device; nothing of a trace. See
  /// lower::memoryElsewhere. Precondition: as withDecisions.
  std::optional<std::int64_t> memory(const problem::Problem &posed,
                                     const problem::Solution &decisions,
                                     const Elsewhere &where) const;

  const merge::PlannedProblem &problem() const { return posed; }
  const problem::Solution &decisions() const { return plan; }
  const std::string &planner() const { return plannerName; }
  /// Of the gradients, in the problem's order.
  const std::vector<std::string> &names() const { return gradientNames; }
  /// Per rank; of a trace where its fully connected layers agree on it.
  std::optional<std::int64_t> samples() const { return batchSamples; }
  /// What the module says that a step takes, seconds; 0 before `predict-times`.
  double predictedStep() const { return predicted; }

private:
  explicit SimulatedPlan(merge::PlannedProblem problem) : posed(std::move(problem)) {}

  mlir::ModuleOp module;
  merge::PlannedProblem posed;
  problem::Solution plan;
  std::string plannerName;
  std::vector<std::string> gradientNames;
  std::optional<std::int64_t> batchSamples;
  std::vector<double> updateWeights; ///< by gradient; empty of a trace
  double forwardEnd = 0, updates = 0, predicted = 0;
};

} // namespace syncline::simulate
