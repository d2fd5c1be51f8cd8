// The pipeline from a model's forward pass to a checked plan.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace mlir {
class OpPassManager;
}

namespace syncline {

namespace solver {
class Planner;
}

struct PipelineOptions {
  std::shared_ptr<const solver::Planner> planner; ///< null for "optimal"
  /// Schemes requested by name, "LAYERS=SCHEME" (see passes/merge/RequestedSchemes.h).
  std::vector<std::string> requested;
  std::string overlap = "backward"; ///< "backward" or "step", as lower-to-plan reads it
  int channels = 1;                 ///< on which messages take turns, 1 to maxChannels
  std::string consistency = "bsp";  ///< as sync::parseConsistency reads it
  /// The norm to which gradients are clipped; 0: they are not. Planners need not know it: they
  /// minimise no updates, so that those which follow the last message change no optimum.
  double clipNorm = 0;
  /// The batches whose gradients a step adds up. Planners need not know it (passes/candidates
  /// compares their plans).
  std::int64_t accumulate = 1;
  std::vector<std::string> recompute = {}; ///< blocks that are recomputed, as globs
  std::int64_t freeArena = 0; ///< bytes that recomputation shall free, in place of globs
  /// Whether the two parts of a tied table's gradient travel apart (passes/cost/TiedGradients.h).
  bool splitTied = false;
};

/// Appends every pass, in order, with a barrier after each phase. The module has `cluster.spec` and
/// holds an `nn.step`, or a `sync.trace`, which only the middle phase changes.
void buildPipeline(mlir::OpPassManager &passes, const PipelineOptions &options);

/// Appends the passes of that pipeline before the communication is planned: the `nn.step` gets its
/// backward pass, is fused, each operation gets its seconds and each gradient a `sync.gradient`.
void buildTimedStep(mlir::OpPassManager &passes, const PipelineOptions &options);

/// Appends the passes of that pipeline between buildTimedStep() and buildSolved(): the problem, and
/// the planner's answer.
void buildSolution(mlir::OpPassManager &passes, const PipelineOptions &options);

/// Appends the passes of that pipeline before a planner answers, buildTimedStep() and pose-problem.
void buildProblem(mlir::OpPassManager &passes, const PipelineOptions &options);

/// Appends the passes of that pipeline behind the planner's answer: the module has a `sync.problem`
/// and its `sync.solution`.
void buildSolved(mlir::OpPassManager &passes, const PipelineOptions &options);

/// Makes the pipeline available to syncline-opt as `--compile`.
void registerPipeline();

} // namespace syncline
