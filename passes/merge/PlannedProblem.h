// Reposing: a planned problem on another cluster or with another batch.
#pragma once

#include "ir/cluster/Cluster.h"
#include "ir/sync/Sync.h"
#include "passes/cost/SchemeCatalog.h"
#include "passes/problem/Problem.h"

#include <cstdint>
#include <string>
#include <vector>

namespace syncline::merge {

/// What is different; as planned where it is 1 or absent.
struct Change {
  double bandwidth = 1; ///< of every link, as a multiple
  double batch = 1;     ///< samples per rank, as a multiple
  std::optional<std::int64_t> ranks = std::nullopt;
};

/// A problem that has been planned, and the cluster that it was posed for. Copyable; refers to
/// attributes, so it lives no longer than their context.
class PlannedProblem {
public:
  /// A diagnostic at the problem where it is no valid one, or where the cluster offers nothing.
  static mlir::FailureOr<PlannedProblem> create(sync::ProblemOp op, cluster::SpecAttr spec);

  const problem::Problem &asPlanned() const { return problem; }
  const cost::SchemeCatalog &catalog() const { return planned; }
  cluster::SpecAttr cluster() const { return spec; }

  /// The same layers with the same choices, at the costs and within the limits that the changed
  /// cluster has. Compute times, factors and reconstruction grow with the batch, updates do not;
  /// all but factors grow with the slowest node's slowdown, which the problem's times thus contain.
  /// With no change it is the problem as planned. Idealised: a batch's time is proportional to its
  /// samples; but for slowdowns, ready times and compute stay the same on other ranks and devices.
  /// badInput where the changed cluster offers less than the planned one, where its servers can no
  /// longer hold what shares a merge class with all-reduces, or see changed(). Precondition:
  /// bandwidth and ranks change only where there is nothing measured.
  Result<problem::Problem> pose(const Change &change) const;
  /// The same on any cluster, with so many times the samples; batch > 0.
  Result<problem::Problem> poseOn(cluster::SpecAttr other, double batch) const;
  /// How many times as long as planned an operation takes on the other cluster's slowest node.
  double slowerOn(cluster::SpecAttr other) const;

  /// Schemes whose times the cluster file states as measured (a line or a table). They hold for its
  /// links and ranks only.
  std::vector<Scheme> measured() const;

private:
  PlannedProblem(problem::Problem problem, cluster::SpecAttr spec, cost::SchemeCatalog planned)
      : problem(std::move(problem)), spec(spec), planned(std::move(planned)) {}

  problem::Problem problem;
  cluster::SpecAttr spec;
  cost::SchemeCatalog planned;
};

/// The cluster with faster links and other ranks; formulas that the file states, too. Fewer ranks
/// than a node has devices are one node with so many devices. badInput where so few ranks have no
/// room for a colocated server, or none of an overridden node.
Result<cluster::SpecAttr> changed(cluster::SpecAttr spec, const Change &change);

/// The fewest ranks for which `changed` finds room.
std::int64_t fewestRanks(cluster::SpecAttr spec);

} // namespace syncline::merge
