// Compares predicted steps.
#include "frontend/driver/ChooseOverlap.h"

#include "frontend/files/FormatUnits.h"
#include "ir/FirstOf.h"
#include "ir/sync/AloneAttr.h"
#include "ir/sync/Sync.h"

#include <optional>

using namespace mlir;

namespace syncline::driver {

namespace {

using files::formatSeconds;

/// One way to plan, and what became of it.
struct Candidate {
  std::string name; ///< for people
  Status status = Status::ok();
  OwningOpRef<ModuleOp> module = {};
  double step = 0;

  bool isPlanned() const { return bool(module); }
};

sync::PredictionOp predictionOf(ModuleOp module) { return firstOf<sync::PredictionOp>(module); }

Candidate tried(const std::string &name, Result<OwningOpRef<ModuleOp>> planned) {
  Candidate candidate{.name = name};
  if (!planned) {
    candidate.status = planned.status();
    return candidate;
  }
  candidate.module = std::move(*planned);
  if (auto prediction = predictionOf(*candidate.module))
    candidate.step = prediction.getStep().convertToDouble();
  return candidate;
}

bool saves(double step, double other) { return other < step * (1 - leastGain); }

/// Whether a step without any waiting for messages would be shorter by leastGain.
bool canGain(const Candidate &barrier) {
  auto prediction = predictionOf(*barrier.module);
  auto alone = prediction ? prediction->getAttrOfType<FloatAttr>(sync::aloneAttr) : FloatAttr();
  return !alone || saves(barrier.step, alone.getValueAsDouble());
}

std::string stepText(const Candidate &candidate) {
  return candidate.isPlanned() ? formatSeconds(candidate.step, 4) + " with " + candidate.name
                               : candidate.name + " is refused: " + candidate.status.message();
}

/// "step 2.064 ms; 2.102 ms with '--overlap backward'".
std::string reasonFor(const Candidate &chosen, const std::vector<Candidate> &all) {
  std::string text = chosen.name + ": step " + formatSeconds(chosen.step, 4);
  for (const Candidate &other : all)
    if (&other != &chosen)
      text += "; " + stepText(other);
  return text;
}

} // namespace

std::string overlapFor(const solver::Planner &planner, const std::string &wanted) {
  if (wanted != "auto" || planner.isOptimal())
    return wanted;
  return planner.orderRule() ? "step" : "backward";
}

Result<ChosenPlan> chooseOverlap(const PlannerRef &planner, bool mayCarry, const PlanCopy &plan) {
  std::vector<Candidate> all;
  const auto attempt = [&](const char *name, const PlannerRef &by, const char *overlap) {
    all.push_back(tried(name, plan(by, overlap)));
    return all.back().isPlanned() || all.back().status.kind() != ErrorKind::internal;
  };
  if (!attempt("'--overlap backward'", planner, "backward"))
    return all.back().status;
  if (all.front().isPlanned() && !canGain(all.front()))
    return ChosenPlan{std::move(all.front().module),
                      all.front().name + ": messages cost less than 1 % of the step"};
  if (mayCarry && !attempt("'--overlap step'", planner, "step"))
    return all.back().status;
  if (!attempt("'--overlap backward --planner single'", *solver::parsePlanner("single"),
               "backward"))
    return all.back().status;
  Candidate *best = nullptr;
  for (Candidate &candidate : all)
    if (candidate.isPlanned() && (!best || saves(best->step, candidate.step)))
      best = &candidate;
  if (!best)
    return all.front().status;
  std::string reason = reasonFor(*best, all);
  return ChosenPlan{std::move(best->module), std::move(reason)};
}

} // namespace syncline::driver
