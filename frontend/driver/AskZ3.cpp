// From a verified plan's module to questions for Z3, and from answers to a line of text.
#include "frontend/driver/AskZ3.h"

#include "frontend/files/FormatUnits.h"
#include "passes/Diagnostics.h"
#include "passes/explain/Reorder.h"
#include "passes/merge/ReadProblem.h"
#include "passes/problem/Interference.h"
#include "passes/problem/OrderProblem.h"
#include "passes/problem/Rounding.h"
#include "passes/proof/OrderChecker.h"
#include "passes/proof/SolutionChecker.h"
#include "passes/solver/Planner.h"
#include "passes/solver/Replay.h"
#include "passes/z3/OrderJudge.h"
#include "passes/z3/Z3Judge.h"

#include <chrono>

using namespace mlir;

namespace syncline::driver {

namespace {

using files::formatSeconds;
using z3judge::Verdict;

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

/// Asks whether the plan's own messages have a shorter step in another order; a line of text that
/// says what was proved and what was not. `bound` is the plan's. badInput where there are too many
/// messages or no answer in time; internal where the plan's proof is wrong. Precondition: the
/// solution is valid for the problem.
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
  if (answer->verdict == Verdict::noAnswer)
    return Status::badInput("'" + folder + "': Z3 gave no answer within " + formatSeconds(seconds) +
                            " for orders of " + messages + "");
  const std::string took = formatSeconds(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 2);
  if (answer->verdict == Verdict::impossible)
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

struct Finding {
  Verdict verdict = Verdict::noAnswer;
  double finish = 0; ///< of the plan that Z3 found, where possible
};

/// Asks about one plan; the questions share the time.
class Prover {
public:
  Prover(const std::string &folder, const problem::Problem &problem, double seconds)
      : folder(folder), problem(problem), seconds(seconds) {}

  double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  /// Whether some plan, where given with at most `maxMessages` messages, finishes before `time` by
  /// more than rounding.
  Result<Finding> beats(double time, std::optional<std::size_t> maxMessages = std::nullopt) {
    const double deadline = time * (1 - problem::sumRounding);
    SYNCLINE_TRY_GET(answer,
                     z3judge::findPlan(problem, {deadline, maxMessages}, seconds - elapsed()));
    if (answer->verdict != Verdict::possible)
      return Finding{answer->verdict};
    return finding(answer->choices, time);
  }

  Status noAnswer() const {
    return Status::badInput("'" + folder + "': Z3 gave no answer within " + formatSeconds(seconds) +
                            " for " + std::to_string(problem.layers.size()) + " gradients");
  }

private:
  /// Z3's choices on our clock, and judged by our judge.
  Result<Finding> finding(const std::vector<problem::Choice> &choices, double time) {
    auto fault = [&](const std::string &what) {
      return Status::error(ErrorKind::internal, "'" + folder + "': Z3's plan " + what);
    };
    if (!solver::choicesAreSound(problem, choices))
      return fault("breaks a rule of the problem");
    const problem::Solution plan = solver::replay(problem, choices);
    if (auto rejection = proof::checkSolution(problem, plan))
      return fault("is refused: " + rejection->message);
    if (plan.finish >= time)
      return fault("finishes at " + formatSeconds(plan.finish, 12) + " by our clock, not before " +
                   formatSeconds(time, 12));
    return Finding{Verdict::possible, plan.finish};
  }

  const std::string &folder;
  const problem::Problem &problem;
  double seconds;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

std::string provedIn(const Prover &prover) {
  return " (proved in " + formatSeconds(prover.elapsed(), 2) + ")";
}

/// Whether Z3 proves the bound again or has no answer; internal where it finds an earlier plan.
Result<Verdict> askAboutBound(Prover &prover, const std::string &folder, double bound) {
  SYNCLINE_TRY_GET(earlier, prover.beats(bound));
  if (earlier->verdict == Verdict::possible)
    return Status::error(ErrorKind::internal,
                         "'" + folder + "' states a proof that no plan finishes before " +
                             formatSeconds(bound, 9) + ", but Z3 finds one that finishes at " +
                             formatSeconds(earlier->finish, 9));
  return earlier->verdict;
}

std::string atMost(std::size_t messages) {
  return "at most " + files::counted(messages, "message");
}

/// About a plan whose planner's name states that it is the best with at most so many messages. The
/// bound, which holds for more messages too, is the second question.
Result<std::string> askAboutLimited(Prover &prover, const std::string &folder, double finish,
                                    double bound, std::size_t maxMessages) {
  const std::string limited = "no plan with " + atMost(maxMessages) + " finishes before ";
  SYNCLINE_TRY_GET(better, prover.beats(finish, maxMessages));
  if (better->verdict == Verdict::noAnswer)
    return prover.noAnswer();
  if (better->verdict == Verdict::possible)
    return Status::badInput("'" + folder + "' states by its planner's name that " + limited +
                            formatSeconds(finish, 9) + ", but Z3 finds one that finishes at " +
                            formatSeconds(better->finish, 9));
  const std::string proved = "Z3: " + limited + formatSeconds(finish);
  const std::string provedAlone = proved + provedIn(prover);
  SYNCLINE_TRY_GET(ofAll, askAboutBound(prover, folder, bound));
  if (*ofAll == Verdict::noAnswer)
    return provedAlone + "; no answer in time about the bound for more messages";
  return proved + ", and none with more before " + formatSeconds(bound) + provedIn(prover);
}

/// About a plan that is not proved to be optimal: whether there is a better one.
Result<std::string> compareWithBest(Prover &prover, double finish, double bound) {
  SYNCLINE_TRY_GET(better, prover.beats(finish));
  if (better->verdict == Verdict::noAnswer && bound == 0)
    return prover.noAnswer();
  if (better->verdict == Verdict::impossible)
    return "Z3: no plan finishes before " + formatSeconds(finish) + provedIn(prover) +
           ": the plan is optimal, which it does not claim";
  std::string text = "Z3: the plan does not claim to be optimal";
  if (bound > 0)
    text = "Z3: no plan finishes before " + formatSeconds(bound) + provedIn(prover) +
           "; the plan finishes at " + formatSeconds(finish) + " and does not claim to be optimal";
  if (better->verdict == Verdict::possible)
    text += "; one that finishes at " + formatSeconds(better->finish) + " exists";
  return text;
}

} // namespace

Result<std::string> askZ3(const std::string &folder, ModuleOp module, double seconds) {
  auto solutions = module.getOps<sync::SolutionOp>();
  if (solutions.empty())
    return Status::badInput("'" + folder + "/plan.mlir': expected a solution");
  sync::SolutionOp solution = *solutions.begin();
  DiagnosticCollector diagnostics(module.getContext());
  FailureOr<sync::ProblemOp> op = merge::problemOf(solution);
  if (failed(op))
    return diagnostics.status("'" + folder + "/plan.mlir': expected a problem");
  if (const std::int64_t channels = solution.channels(); channels > 1)
    return Status::badInput("'" + folder + "' has " + std::to_string(channels) +
                            " channels; Z3 proves plans of one channel only");
  FailureOr<problem::Problem> problem = merge::toProblem(*op);
  if (failed(problem))
    return diagnostics.status("'" + folder + "/plan.mlir': not a problem");
  if (const auto order = merge::toOrderProblem(*op, *problem))
    return askZ3AboutOrder(folder, *order,
                           problem::orderFrom(*order, merge::toSolution(solution, *problem)),
                           solution.getBound().convertToDouble(), seconds);

  if (problem::slowsComputation(*problem))
    return Status::badInput("'" + folder +
                            "' is for a cluster with 'interference'; Z3's model has "
                            "no messages that slow computation");

  const double finish = solution.getFinish().convertToDouble();
  const double bound = solution.getBound().convertToDouble();
  Prover prover(folder, *problem, seconds);
  const auto planner = solver::plannerOfPlan(solution.getPlanner());
  const auto limit = planner ? (*planner)->maxMessages() : std::nullopt;
  const std::size_t messages = solution.getMessages().size();
  if (limit && messages > *limit)
    return Status::badInput("'" + folder + "': expected " + atMost(*limit) +
                            ", as its planner's name says, got " + std::to_string(messages));
  if (limit && !problem::isProved(finish, bound))
    return askAboutLimited(prover, folder, finish, bound, *limit);
  if (bound > 0) {
    SYNCLINE_TRY_GET(earlier, askAboutBound(prover, folder, bound));
    if (*earlier == Verdict::noAnswer)
      return prover.noAnswer();
  }
  if (problem::isProved(finish, bound))
    return "Z3: no plan finishes before " + formatSeconds(finish) + provedIn(prover);
  return compareWithBest(prover, finish, bound);
}

} // namespace syncline::driver
