// One question to Z3 about the order of a plan's messages.
#include "frontend/driver/AskZ3Order.h"

#include "frontend/files/FormatUnits.h"
#include "passes/explain/Reorder.h"
#include "passes/problem/Rounding.h"
#include "passes/proof/OrderChecker.h"
#include "passes/z3/OrderJudge.h"

#include <chrono>

namespace syncline::driver {

namespace {

using files::formatSeconds;

/// Z3's order on our clock, and judged by our judge.
Result<double> periodOf(const std::string &folder, const problem::OrderProblem &problem,
                        const problem::OrderSolution &planned, const z3judge::OrderAnswer &answer) {
  const problem::OrderSolution other = explain::reordered(problem, planned, answer.order);
  auto fault = [&](const std::string &what) {
    return Status::error(ErrorKind::internal, "'" + folder + "': Z3's order " + what);
  };
  if (auto rejection = proof::checkOrder(problem, other))
    return fault("is refused: " + rejection->message);
  if (other.period >= planned.period)
    return fault("has a step of " + formatSeconds(other.period, 12) +
                 " by our clock, not less than " + formatSeconds(planned.period, 12));
  return other.period;
}

} // namespace

Result<std::string> askZ3AboutOrder(const std::string &folder, const problem::OrderProblem &problem,
                                    const problem::OrderSolution &solution, double bound,
                                    double seconds) {
  const auto start = std::chrono::steady_clock::now();
  const std::size_t count = solution.messages.size();
  if (count > z3judge::maxAskedMessages)
    return Status::badInput("'" + folder + "' has an order of " + std::to_string(count) +
                            " messages; Z3 compares orders of at most " +
                            std::to_string(z3judge::maxAskedMessages));
  const double period = solution.period;
  SYNCLINE_TRY_GET(
      answer, z3judge::findOrder(problem, solution, period * (1 - problem::sumRounding), seconds));
  const std::string messages =
      "the plan's " + (count == 1 ? "message" : std::to_string(count) + " messages");
  if (answer->verdict == z3judge::Verdict::noAnswer)
    return Status::badInput("'" + folder + "': Z3 gave no answer within " + formatSeconds(seconds) +
                            " for orders of " + messages + "");
  const std::string took = formatSeconds(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 2);
  if (answer->verdict == z3judge::Verdict::impossible)
    return "Z3: " + messages + " have no order with a step below " + formatSeconds(period) +
           " in the planner's model (proved in " + took +
           "); Z3 was not asked about other messages: bytes, schemes and cuts are the plan's";
  SYNCLINE_TRY_GET(shorter, periodOf(folder, problem, solution, *answer));
  if (*shorter < bound * (1 - problem::sumRounding))
    return Status::error(ErrorKind::internal,
                         "'" + folder + "' states a proof that no order has a step below " +
                             formatSeconds(bound, 9) + ", but Z3 finds one of " +
                             formatSeconds(*shorter, 9));
  return "Z3: " + messages + " have an order with a step of " + formatSeconds(*shorter) +
         " in the planner's model, not " + formatSeconds(period) + " (found in " + took +
         "); the plan does not claim to be optimal";
}

} // namespace syncline::driver
