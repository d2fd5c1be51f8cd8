// Plans candidates and compares their predicted steps.
#include "passes/candidates/ChoosePlan.h"

#include "ir/FirstOf.h"
#include "ir/plan/Plan.h"
#include "ir/sync/Disturbed.h"
#include "passes/candidates/ChooseOrder.h"
#include "passes/candidates/PlanCandidate.h"
#include "passes/merge/ReadProblem.h"
#include "passes/solver/Planner.h"
#include "syncline/Scheme.h"

#include <algorithm>

using namespace mlir;

namespace syncline::candidates {
namespace {

bool saves(double step, double other) { return other < step * (1 - leastGain); }

/// The seconds of a step without any waiting for messages.
double aloneIn(ModuleOp plan) {
  auto prediction = firstOf<sync::PredictionOp>(plan);
  auto alone = prediction ? prediction.getAloneAttr() : FloatAttr();
  return alone ? alone.getValueAsDouble() : 0;
}

/// The seconds after which one message with all gradients has arrived, at least.
double endOfOneMessage(ModuleOp plan) {
  auto posed = firstOf<sync::ProblemOp>(plan);
  if (!posed)
    return 0;
  const problem::Problem problem = merge::statedProblem(posed);
  std::int64_t bytes = 0;
  for (const problem::Layer &layer : problem.layers)
    bytes += layer.bytes;
  return problem.layers.empty()
             ? 0
             : problem.layers.back().ready + problem.mergeClasses.front().seconds(bytes);
}

/// Whether a bucket of the plan travels in each micro-batch.
bool gathers(ModuleOp plan) {
  for (auto program : plan.getOps<plan::ProgramOp>())
    for (auto bucket : program.getOps<plan::BucketOp>())
      if (isGathered(bucket.getScheme()))
        return true;
  return false;
}

class Comparison {
public:
  Comparison(const Request &request, ModuleOp source, const ExpectFits &fits,
             const EnterPhase &enter)
      : asked(request.asked.planner), candidates(candidatesOf(request, source)), fits(fits),
        recomputes(request.recomputesToFit), planner(source, recomputes, enter) {}

  Result<Choice> run() {
    for (const Candidate &candidate : candidates)
      SYNCLINE_TRY(consider(candidate));
    if (!choice.plan)
      return choice.outcomes.front().status;
    nameSimpler();
    return std::move(choice);
  }

private:
  bool isSingle(const Candidate &candidate) const {
    return candidate.planner != asked && candidate.planner->name() == "single";
  }
  /// Whether it counts messages of each micro-batch.
  bool countsMicroBatches(const Candidate &candidate) const {
    return candidate.planner != asked && !isSingle(candidate);
  }

  /// The planned candidate that differs only in whole gradients and in the asked planner, or null.
  const Outcome *simplerThan(const Candidate &candidate) const {
    for (const Outcome &one : choice.outcomes)
      if (one.step && one.candidate.planner == asked && !one.candidate.splitTied &&
          one.candidate.overlap == candidate.overlap &&
          one.candidate.channels == candidate.channels)
        return &one;
    return nullptr;
  }

  /// The seconds that the candidate's step takes at least, as the best plan shows. Nothing is known
  /// where the best plan recomputes as much as it needs: another one may need less.
  double leastStep(const Candidate &candidate) const {
    if (!choice.plan || recomputes)
      return 0;
    const double alone = aloneIn(*choice.plan);
    // Rows of a split gradient are layers of their own; one message has them in the table.
    const bool isWhole = !choice.outcomes[choice.chosen].candidate.splitTied;
    return isSingle(candidate) && isWhole ? std::max(alone, endOfOneMessage(*choice.plan)) : alone;
  }

  /// Plans the candidate if it can be the best. Errors: internal.
  Status consider(const Candidate &candidate) {
    const Outcome *simpler = countsMicroBatches(candidate) ? simplerThan(candidate) : nullptr;
    if (simpler && !simpler->gathers)
      return Status::ok();
    Outcome outcome{.candidate = candidate};
    outcome.least = leastStep(candidate);
    if (choice.plan && !saves(bestStep, outcome.least)) {
      choice.outcomes.push_back(std::move(outcome));
      return Status::ok();
    }
    Result<OwningOpRef<ModuleOp>> plan = planner.plan(candidate);
    outcome.status = plan ? fits(candidate, **plan) : plan.status();
    if (!outcome.status && outcome.status.kind() == ErrorKind::internal)
      return outcome.status;
    if (outcome.status) {
      outcome.step = stepOf(**plan);
      outcome.gathers = gathers(**plan);
      SYNCLINE_TRY_GET(isBetter, beats(outcome, **plan));
      if (*isBetter) {
        choice.plan = std::move(*plan);
        choice.chosen = choice.outcomes.size();
        bestStep = *outcome.step;
      }
    }
    choice.outcomes.push_back(std::move(outcome));
    return Status::ok();
  }

  /// Whether the plan is to be taken in place of the best one: an order in place of a barrier by
  /// the means of disturbed steps, where these are known, everything else by the predicted step.
  Result<bool> beats(Outcome &outcome, ModuleOp plan) {
    if (!choice.plan)
      return true;
    Outcome &bestOutcome = choice.outcomes[choice.chosen];
    const Candidate &candidate = outcome.candidate, &best = bestOutcome.candidate;
    auto prediction = firstOf<sync::PredictionOp>(plan);
    const auto disturbed =
        prediction ? sync::disturbedOf(prediction) : std::vector<sync::DisturbedPlan>();
    if (disturbed.empty() || best.overlap == candidate.overlap ||
        best.planner != candidate.planner || best.channels != candidate.channels || best.splitTied)
      return saves(bestStep, stepOf(plan));
    outcome.disturbed = disturbed[0].mean;
    bestOutcome.disturbed = disturbed[1].mean;
    if (disturbed[0].mean < disturbed[1].mean)
      return true;
    SYNCLINE_TRY_GET(barrier, disturbedPlan(*choice.plan));
    if (!*barrier)
      return false;
    std::vector<sync::DisturbedPlan> all = disturbed;
    all.erase(all.begin() + 1);
    all.insert(all.begin(), std::move(**barrier));
    sync::setDisturbed(firstOf<sync::PredictionOp>(*choice.plan), all);
    return false;
  }

  /// Writes the simpler candidate's step into the prediction.
  void nameSimpler() {
    const Candidate &chosen = choice.outcomes[choice.chosen].candidate;
    const Outcome *simpler = simplerThan(chosen);
    auto prediction = firstOf<sync::PredictionOp>(*choice.plan);
    if (!prediction || !simpler || simpler == &choice.outcomes[choice.chosen] || isSingle(chosen))
      return;
    const llvm::APFloat step(*simpler->step);
    chosen.splitTied ? prediction.setWhole(step) : prediction.setGathering(step);
  }

  const std::shared_ptr<const solver::Planner> asked;
  const std::vector<Candidate> candidates;
  const ExpectFits &fits;
  const bool recomputes;
  CandidatePlanner planner;
  Choice choice;
  double bestStep = 0; ///< of choice.plan
};

} // namespace

double stepOf(ModuleOp plan) {
  auto prediction = firstOf<sync::PredictionOp>(plan);
  return prediction ? prediction.getStep().convertToDouble() : 0;
}

bool canGain(ModuleOp plan) { return saves(stepOf(plan), aloneIn(plan)); }

Result<Choice> choosePlan(const Request &request, ModuleOp source, const ExpectFits &fits,
                          const EnterPhase &enter) {
  return Comparison(request, source, fits, enter).run();
}

} // namespace syncline::candidates
