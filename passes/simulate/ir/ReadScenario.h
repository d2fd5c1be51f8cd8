// ReadScenario: turns plans in the IR into scenarios.
#pragma once

#include "ir/cluster/Cluster.h"
#include "passes/merge/PlannedModule.h"
#include "passes/problem/Problem.h"
#include "passes/simulate/Scenario.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>
#include <vector>

namespace syncline::simulate {

/// The machines of `spec`. A node's slowdown holds for all of its ranks.
Machines machinesOf(cluster::SpecAttr spec);

/// What one simulation changes beside the plan.
struct Elsewhere {
  cluster::SpecAttr cluster; ///< the plan's own cluster, or another
  double batch = 1;          ///< samples, as a multiple of the plan's
  /// Whether the decisions are an order, so that steps wait for messages of the step before.
  bool isOrder = false;
};

/// A module that `compile` wrote, read once: its operations, its problem and its solution. It
/// refers to attributes of the module, which must outlive it.
class SimulatedPlan {
public:
  /// Returns badInput where the module is no plan; emits a diagnostic where its problem or solution
  /// is not valid.
  static Result<SimulatedPlan> create(mlir::ModuleOp module);

  /// The plan as it is issued, operation by operation (a trace: layer by layer), on another
  /// cluster's network, servers and slowdowns. Operations take the time that they were planned
  /// with, changed by the slowdowns only. Returns badInput where that cluster gives no cost for
  /// a scheme.
  Result<Scenario> asPlanned(cluster::SpecAttr cluster) const;

  /// asPlanned()'s scenario with each message issued as soon as the gradients of its members exist,
  /// in the order in which they do.
  Scenario inReadyOrder(Scenario asPlanned) const;

  /// The problem posed on another cluster, with these decisions. Computation has one operation for
  /// each gradient. `posed` must come from problem().poseOn of the same cluster and batch; of
  /// `decisions` only the messages' layers, cuts and options are used; messages take turns on as
  /// many channels as the plan has. An order needs a plan whose steps wait for messages of the
  /// step before.
  Result<Scenario> withDecisions(const problem::Problem &posed, const problem::Solution &decisions,
                                 const Elsewhere &where) const;

  /// One device by itself, without slowdown and with `batch` times the plan's samples: it computes
  /// what a rank does in all micro-batches, updates all parameters and sends nothing. The machines
  /// have one rank.
  Scenario alone(double batch) const;

  /// Bytes on every device of the tensors of a plan with these decisions; nothing for a trace. See
  /// lower::memoryElsewhere. Precondition: as withDecisions.
  std::optional<std::int64_t> memory(const problem::Problem &posed,
                                     const problem::Solution &decisions,
                                     const Elsewhere &where) const;

  /// Whether the plan clips gradients by their norm. All scenarios above then have updates that
  /// follow the last message, and the squares before it (clipByNorm()).
  bool clips() const { return squares > 0; }
  /// The plan as if it did not.
  SimulatedPlan withoutClipping() const;

  /// In a step of several batches, a micro-batch of asPlanned()'s on the plan's cluster that is not
  /// the last one (Accumulation.h). Precondition: sendsGradients().
  Result<Scenario> accumulatingMicroBatch() const;
  /// The micro-batches of a step, at least 1 (P36). All scenarios above but alone() have the
  /// last one.
  std::int64_t microBatches() const { return microBatchCount; }
  /// The step with all its micro-batches or with some, from a scenario of the last
  /// one (Accumulation.h).
  Scenario wholeStep(const Scenario &lastMicroBatch) const {
    return wholeStep(lastMicroBatch, microBatchCount);
  }
  Scenario wholeStep(const Scenario &lastMicroBatch, std::int64_t microBatches) const;
  /// Seconds that a micro-batch which is not the last one takes at least, by any plan of the
  /// problem: what it computes, and adding all gradients up but those that a reduce-scatter
  /// would update.
  double leastMicroBatchSeconds() const;
  /// Whether the plan has a program whose gradients travel.
  bool sendsGradients() const;

  /// Mean seconds of the step of alone().
  double aloneSeconds(double batch) const;

  /// The module that was read.
  mlir::ModuleOp planModule() const { return module; }
  const merge::PlannedProblem &problem() const { return planned.problem; }
  const problem::Solution &decisions() const { return planned.solution; }
  std::string planner() const { return sync::SolutionOp(planned.solutionOp).getPlanner().str(); }
  /// The gradients' names, in the problem's order.
  const std::vector<std::string> &names() const { return gradientNames; }
  /// Samples per rank; for a trace only where its fully connected layers agree.
  std::optional<std::int64_t> samples() const { return planned.samples; }
  /// Seconds of a step with all its micro-batches by the module's prediction; 0
  /// before `predict-times`.
  double predictedStep() const { return predicted; }

private:
  SimulatedPlan(mlir::ModuleOp module, merge::PlannedModule planned)
      : module(module), planned(std::move(planned)) {}
  bool hasProgram() const;
  /// When the next forward pass reads each gradient's parameter first, in seconds from its
  /// beginning; empty where steps wait for their own messages. `trace` may be null.
  std::vector<double> readingIn(sync::TraceOp trace) const;
  /// Whether computation is that of a model's step: of a program, or of a trace made from a step.
  /// Other traces' layers keep their times, and no loss travels beside their gradients.
  bool isOfStep() const;
  /// The operations of alone() in the last micro-batch, or in an earlier one.
  std::vector<Operation> aloneMicroBatch(double batch, bool isLast) const;
  /// The scenario of a micro-batch of operations with messages, clipped where the plan does, with
  /// the loss's message, costs and machines. Operations have the slowdown of `timedOn`;
  /// `shardUpdate` is that of each message by reduce-scatter.
  Result<Scenario> complete(Scenario scenario, double shardUpdate, cluster::SpecAttr timedOn,
                            cluster::SpecAttr cluster, const cost::SchemeCatalog &catalog) const;
  WirePrecision wire() const { return cluster::wireOf(module); }

  mlir::ModuleOp module;
  merge::PlannedModule planned;
  std::vector<std::string> gradientNames;
  std::vector<double> updateWeights; ///< of each gradient; empty where unknown
  double forwardEnd = 0, updates = 0, predicted = 0;
  std::int64_t microBatchCount = 1;
  double overhead = 0; ///< seconds of a step beside its operations
  double squares = 0;  ///< their time as a part of the updates'; 0 for a plan that does not clip
  Scatter scatter;
};

} // namespace syncline::simulate
