// What `compile` wrote, read: a planned problem, also on another cluster or with another batch, and
// a module with it and its solution.
#pragma once

#include "ir/cluster/Cluster.h"
#include "ir/sync/Sync.h"
#include "passes/cost/SchemeCatalog.h"
#include "passes/problem/OrderProblem.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace syncline::merge {

/// A change to the planned cluster and batch; a default means no change.
struct Change {
  double bandwidth = 1; ///< of every link, as a multiple of the planned
  double batch = 1;     ///< samples per rank, as a multiple of the planned
  std::optional<std::int64_t> ranks = std::nullopt;
};

/// A problem that has been planned, with the cluster that it was posed for. Copyable. It refers to
/// attributes, so it must not outlive their context.
class PlannedProblem {
public:
  /// Fails, with a diagnostic at the problem, where it is not valid or the cluster offers
  /// no scheme.
  static mlir::FailureOr<PlannedProblem> create(sync::ProblemOp op, cluster::SpecAttr spec);

  const problem::Problem &asPlanned() const { return problem; }
  const cost::SchemeCatalog &catalog() const { return planned; }
  cluster::SpecAttr cluster() const { return spec; }

  /// The problem with the same layers and choices, at the costs and within the limits of the
  /// changed cluster; with no change, the problem as planned. Compute times, factors and
  /// reconstruction grow with the batch, updates do not. All but factors grow with the slowest
  /// node's slowdown, so the problem's times contain it.
  ///
  /// Idealised: a batch's time is proportional to its samples; but for slowdowns, ready times and
  /// compute stay the same on other ranks and devices. Returns badInput where the changed cluster
  /// lacks a planned scheme, where its servers can no longer hold all gradients that share a merge
  /// class with all-reduces, or where changed() fails. Precondition: bandwidth and ranks change
  /// only where measured() is empty.
  Result<problem::Problem> pose(const Change &change) const;
  /// As pose(), on any cluster, with `batch` times the samples. Precondition: batch > 0.
  Result<problem::Problem> poseOn(cluster::SpecAttr other, double batch) const;
  /// Whether steps of the plan wait for messages of the step before.
  bool hasOrder() const { return order.has_value(); }
  /// The order problem of the layers that poseOn() gave for this cluster and batch; nothing unless
  /// hasOrder(). The forward pass grows with the batch, updates
  /// do not.
  std::optional<problem::OrderProblem> orderOn(const problem::Problem &posed,
                                               cluster::SpecAttr other, double batch) const;
  /// For each layer when the forward pass first reads its parameters, in seconds from the beginning
  /// of a pass that nothing delays. Empty unless hasOrder().
  std::vector<double> readingOn(cluster::SpecAttr other, double batch) const;
  /// The factor by which operations take longer than planned on the other cluster's slowest node.
  double slowerOn(cluster::SpecAttr other) const;

  /// Schemes whose times the cluster file states as measured (a line or a table). Such times hold
  /// only for the cluster's own links and ranks.
  std::vector<Scheme> measured() const;

private:
  PlannedProblem(problem::Problem problem, std::optional<problem::OrderProblem> order,
                 double forwardEnd, cluster::SpecAttr spec, cost::SchemeCatalog planned)
      : problem(std::move(problem)), order(std::move(order)), forwardEnd(forwardEnd), spec(spec),
        planned(std::move(planned)) {}

  problem::Problem problem;
  std::optional<problem::OrderProblem> order;
  double forwardEnd; ///< seconds of the forward pass without updates
  cluster::SpecAttr spec;
  cost::SchemeCatalog planned;
};

/// The cluster with faster links and other ranks; formulas that the file states change too. Fewer
/// ranks than a node has devices become one node with so many devices. Returns badInput where so
/// few ranks leave no room for a colocated server or for an overridden node.
Result<cluster::SpecAttr> changed(cluster::SpecAttr spec, const Change &change);

/// The minimum number of ranks that `changed` accepts.
std::int64_t fewestRanks(cluster::SpecAttr spec);

/// It refers to operations and attributes of the module, which must outlive it.
struct PlannedModule {
  sync::ProblemOp problemOp;
  sync::SolutionOp solutionOp;
  PlannedProblem problem;     ///< what problemOp states, on the module's cluster
  problem::Solution solution; ///< what solutionOp states; the judge has accepted it
  /// Samples per rank: the batch of a module's program, or the K of a trace where all its fully
  /// connected layers have the same.
  std::optional<std::int64_t> samples;
};

/// Reads a planned module. Returns badInput where the module has no problem, solution or cluster,
/// or the judge refuses the solution; emits a diagnostic where the problem is not valid.
Result<PlannedModule> readPlannedModule(mlir::ModuleOp module);

} // namespace syncline::merge
