// Plans by Z3, on the solver's clock.
#include "frontend/driver/Z3Planner.h"

#include "frontend/files/FormatUnits.h"
#include "passes/solver/Replay.h"
#include "passes/z3/BestPlan.h"

namespace syncline::driver {

namespace {

using problem::Choice;
using problem::Problem;
using z3judge::Verdict;

/// What our own algorithms know: a bound for any number of messages, which the plan's certificate
/// will prove, and their best plan of so few messages.
z3judge::Known knownOf(const Problem &problem, std::size_t maxMessages) {
  const Result<solver::PlanResult> optimal = (*solver::parsePlanner("optimal"))->plan(problem);
  if (!optimal)
    return {};
  z3judge::Known known{optimal->bound};
  std::optional<problem::Solution> plan = solver::bestRuledSolution(problem, maxMessages);
  if (optimal->plan.messages.size() <= maxMessages)
    plan = optimal->plan;
  if (plan)
    known.plan = solver::choicesOf(problem, *plan);
  return known;
}

Result<std::vector<Choice>> choose(const Problem &problem, std::size_t maxMessages,
                                   double seconds) {
  const auto clock = [&](const std::vector<Choice> &choices) -> Result<double> {
    if (!solver::choicesAreSound(problem, choices))
      return Status::error(ErrorKind::internal, "Z3's plan breaks a rule of the problem");
    return solver::replay(problem, choices).finish;
  };
  SYNCLINE_TRY_GET(best, z3judge::findBestPlan(problem, maxMessages, knownOf(problem, maxMessages),
                                               seconds, clock));
  switch (best->verdict) {
  case Verdict::possible:
    return std::move(best->choices);
  case Verdict::impossible:
    return Status::badInput("no plan has so few messages: some gradients cannot share one");
  case Verdict::noAnswer:
    break;
  }
  return Status::badInput("Z3 gave no answer within " + files::formatSeconds(seconds) + " for " +
                          std::to_string(problem.layers.size()) + " gradients");
}

} // namespace

Result<std::shared_ptr<const solver::Planner>> z3Planner(const solver::Planner &named,
                                                         double seconds) {
  if (Status available = z3judge::checkAvailable(); !available)
    return Status::badInput("planner '" + named.name() + "': " + available.message());
  const std::size_t most = *named.maxMessages();
  const solver::MergeRule rule = [most, seconds](const Problem &problem) {
    return choose(problem, most, seconds);
  };
  return std::make_shared<const solver::Planner>(named.name(), rule, most);
}

} // namespace syncline::driver
