// The pass `predict-times`: simulates a step once and writes its times.
#include "passes/simulate/ir/PredictTimes.h"

#include "ir/plan/Plan.h"
#include "ir/sync/Sync.h"
#include "passes/Passes.h"
#include "passes/simulate/ir/ReadScenario.h"

#include "mlir/IR/Builders.h"

namespace syncline {
#define GEN_PASS_DEF_PREDICTTIMES
#include "passes/Passes.h.inc"
} // namespace syncline

using namespace mlir;

namespace syncline::simulate {

/// Seconds of a step, in the mean over a period, in which a rank waits for exchanges (P22): each
/// hides behind the whole steps from its start to its arrival, but before the next period's.
static double exchangeWaiting(plan::ProgramOp program, double step) {
  sync::ConsistencyAttr consistency = program.getConsistencyAttr();
  if (!consistency)
    return 0;
  const auto period = static_cast<std::uint64_t>(consistency.getPeriod());
  const bool inTurns = consistency.getForm() == sync::ConsistencyForm::easgd &&
                       consistency.getVariant() == sync::EasgdVariant::original;
  double waiting = 0;
  for (auto exchange : program.getOps<plan::ExchangeOp>()) {
    const double seconds = exchange.getSeconds().convertToDouble();
    const std::uint64_t start = exchange.getStart(), wait = exchange.getWait().value_or(~0ull);
    const auto behind = static_cast<double>(wait > start ? std::min(wait - start, period) : 0);
    const auto ranks = static_cast<double>(program.getRanks());
    waiting += inTurns ? ranks * seconds + (ranks - 1) * static_cast<double>(period) * step
                       : std::max(0.0, seconds - behind * step);
  }
  return waiting / static_cast<double>(period);
}

static Result<Prediction> predictScenario(Result<Scenario> scenario) {
  return scenario ? predictStep(std::move(*scenario)) : scenario.status();
}

/// Predicts the plan's step as it is issued, on its own cluster.
static Result<Prediction> predictIssued(const SimulatedPlan &plan) {
  Result<Prediction> prediction = predictScenario(plan.asPlanned(plan.problem().cluster()));
  // The norm's message, and what is gathered behind it, are no messages of the solution.
  if (prediction && plan.clips())
    prediction->messages.resize(plan.decisions().messages.size());
  return prediction;
}

/// Seconds of a step with all its micro-batches, of which one that is not the last takes
/// `microBatch`. Messages of the step before, and its loss, reach into the first micro-batches;
/// every micro-batch behind them takes `microBatch`. Eight micro-batches are simulated, and the
/// loss is taken to have arrived by then.
static Result<double> wholeSeconds(const SimulatedPlan &plan, double microBatch) {
  constexpr std::int64_t most = 8;
  const std::int64_t microBatches = std::min(plan.microBatches(), most);
  SYNCLINE_TRY_GET(lastMicroBatch, plan.asPlanned(plan.problem().cluster()));
  SYNCLINE_TRY_GET(whole, predictStep(plan.wholeStep(*lastMicroBatch, microBatches)));
  return whole->step + static_cast<double>(plan.microBatches() - microBatches) * microBatch;
}

/// Has the times of whole steps count all micro-batches. Precondition: the plan has several, so
/// that its gradients travel (P36).
static Status countMicroBatches(Prediction &prediction, const SimulatedPlan &plan) {
  prediction.leastMicroBatch = plan.leastMicroBatchSeconds();
  SYNCLINE_TRY_GET(step, wholeSeconds(plan, *prediction.microBatch));
  prediction.step = *step;
  if (!prediction.unclipped)
    return Status::ok();
  SYNCLINE_TRY_GET(unclipped, wholeSeconds(plan.withoutClipping(), *prediction.microBatch));
  prediction.unclipped = *unclipped;
  return Status::ok();
}

Result<Prediction> predictPlan(ModuleOp module) {
  SYNCLINE_TRY_GET(plan, SimulatedPlan::create(module));
  SYNCLINE_TRY_GET(prediction, predictIssued(*plan));
  if (plan->clips()) {
    SYNCLINE_TRY_GET(without, predictIssued(plan->withoutClipping()));
    prediction->unclipped = without->step;
  }
  if (plan->sendsGradients()) {
    SYNCLINE_TRY_GET(microBatch, predictScenario(plan->accumulatingMicroBatch()));
    prediction->microBatch = microBatch->step;
  }
  prediction->alone = plan->aloneSeconds(1);
  if (plan->microBatches() > 1)
    SYNCLINE_TRY(countMicroBatches(*prediction, *plan));
  for (auto program : module.getOps<plan::ProgramOp>())
    prediction->waiting = exchangeWaiting(program, prediction->step);
  prediction->step += prediction->waiting;
  return prediction;
}

namespace {

sync::TimesAttr listOf(MLIRContext *context, const Prediction &prediction,
                       double PredictedMessage::*time) {
  llvm::SmallVector<cluster::Real> values;
  for (const PredictedMessage &message : prediction.messages)
    values.push_back(message.*time);
  return sync::TimesAttr::get(context, values);
}

void writeDown(sync::SolutionOp solution, const Prediction &prediction) {
  OpBuilder builder(solution->getContext());
  builder.setInsertionPointAfter(solution);
  auto list = [&](double PredictedMessage::*time) {
    return listOf(builder.getContext(), prediction, time);
  };
  auto seconds = [&](double time) { return builder.getF64FloatAttr(time); };
  auto orNone = [&](std::optional<double> time) { return time ? seconds(*time) : FloatAttr(); };
  builder.create<sync::PredictionOp>(
      solution.getLoc(), solution.getProblemAttr(), list(&PredictedMessage::ready),
      list(&PredictedMessage::start), list(&PredictedMessage::end),
      list(&PredictedMessage::reconstructed), list(&PredictedMessage::exposed),
      seconds(prediction.forwardEnd), seconds(prediction.backwardEnd),
      seconds(prediction.communicationEnd), seconds(prediction.reconstructionEnd),
      seconds(prediction.updates), seconds(prediction.step), seconds(prediction.alone),
      prediction.waiting > 0 ? seconds(prediction.waiting) : FloatAttr(),
      orNone(prediction.unclipped), orNone(prediction.microBatch),
      orNone(prediction.leastMicroBatch),
      /*whole=*/FloatAttr(), /*gathering=*/FloatAttr());
}

struct PredictTimes : syncline::impl::PredictTimesBase<PredictTimes> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Result<Prediction> prediction = predictPlan(module);
    if (!prediction) {
      module.emitError("cannot be simulated: ") << prediction.status().message();
      return signalPassFailure();
    }
    for (auto old : llvm::make_early_inc_range(module.getOps<sync::PredictionOp>()))
      old.erase();
    writeDown(*module.getOps<sync::SolutionOp>().begin(), *prediction);
  }
};

} // namespace
} // namespace syncline::simulate
