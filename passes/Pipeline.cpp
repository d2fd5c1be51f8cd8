// The compilation pipeline. It reads as a table of contents.
#include "passes/Pipeline.h"

#include "passes/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace syncline;

/// A barrier that refuses the `illegal` operations at the end of phase `phase`.
static std::unique_ptr<Pass> barrier(const char *phase, std::vector<std::string> illegal) {
  BarrierOptions options;
  options.phase = phase;
  options.illegal = std::move(illegal);
  return createBarrier(options);
}

/// The step of one rank: forward pass, backward pass, and few passes over memory.
static void buildStep(OpPassManager &passes, const PipelineOptions &options) {
  OpPassManager &step = passes.nest<nn::StepOp>();
  step.addPass(createDifferentiate());
  step.addPass(createFuseActivations());
  step.addPass(createFuseRows(FuseRowsOptions{options.splitTied}));
  step.addPass(createFusePointwise());
  passes.addPass(barrier("differentiate and fuse", {"nn.unary", "nn.unary_backward", "nn.binary",
                                                    "nn.prelu_backward", "nn.broadcast"}));
}

/// The time of every operation, and a `sync.gradient` for every gradient.
static void buildTimes(OpPassManager &passes, const PipelineOptions &options) {
  passes.nest<nn::StepOp>().addPass(createCost());
  if (!options.recompute.empty() || options.freeArena > 0)
    passes.nest<nn::StepOp>().addPass(
        createRecompute(RecomputeOptions{options.recompute, options.freeArena}));
  passes.nest<nn::StepOp>().addPass(
      createInsertGradients(InsertGradientsOptions{options.splitTied}));
}

/// The problem: what each gradient may do on this cluster, and its cost.
static void buildPosed(OpPassManager &passes, const PipelineOptions &options) {
  PoseProblemOptions posing;
  posing.requested = options.requested;
  posing.overlap = options.overlap;
  posing.consistency = options.consistency;
  passes.addPass(createPoseProblem(posing));
}

/// The communication: which gradients share a message, by which scheme, and when it is sent.
static void buildBuckets(OpPassManager &passes) {
  passes.addPass(createCheckSolutions());
  passes.addPass(createFormBuckets());
  passes.addPass(barrier("merge", {"sync.gradient"}));
}

/// The program: issue order, memory, transport calls, and the prediction of its times.
static void buildPlan(OpPassManager &passes, const PipelineOptions &options) {
  passes.addPass(
      createLowerToPlan(LowerToPlanOptions{options.overlap, options.clipNorm, options.accumulate}));
  passes.addPass(barrier("lower to plan", {"nn.step", "sync.all_reduce", "sync.all_gather"}));
  passes.addPass(createPlanExchanges(PlanExchangesOptions{options.requested}));
  passes.addPass(createPredictTimes());
  passes.addPass(createCheckPlan());
  passes.addPass(createCheckRunnable());
}

void syncline::buildTimedStep(OpPassManager &passes, const PipelineOptions &options) {
  buildStep(passes, options);
  buildTimes(passes, options);
}

void syncline::buildProblem(OpPassManager &passes, const PipelineOptions &options) {
  buildTimedStep(passes, options);
  buildPosed(passes, options);
}

void syncline::buildSolved(OpPassManager &passes, const PipelineOptions &options) {
  buildBuckets(passes);
  buildPlan(passes, options);
}

void syncline::buildSolution(OpPassManager &passes, const PipelineOptions &options) {
  buildPosed(passes, options);
  passes.addPass(createSolveMerge(options.planner, options.channels));
}

void syncline::buildPipeline(OpPassManager &passes, const PipelineOptions &options) {
  buildTimedStep(passes, options);
  buildSolution(passes, options);
  buildSolved(passes, options);
}

void syncline::registerPipeline() {
  PassPipelineRegistration<>("compile", "The whole pipeline, with the planner 'optimal'",
                             [](OpPassManager &passes) { buildPipeline(passes, {}); });
}
