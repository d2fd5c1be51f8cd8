// From a verified plan's module to questions for Z3, and from answers to a line of text.
#include "frontend/driver/AskZ3.h"

#include "frontend/driver/Diagnostics.h"
#include "frontend/files/FormatUnits.h"
#include "passes/merge/MergeOps.h"
#include "passes/problem/Rounding.h"
#include "passes/proof/SolutionChecker.h"
#include "passes/solver/Replay.h"
#include "passes/z3/Z3Judge.h"

#include <chrono>

using namespace mlir;

namespace syncline::driver {

namespace {

using files::formatSeconds;
using z3judge::Verdict;

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

  /// Whether some plan finishes before `time` by more than rounding.
  Result<Finding> beats(double time) {
    const double deadline = time * (1 - problem::sumRounding);
    Result<z3judge::Answer> answer =
        z3judge::findPlan(problem, {deadline, std::nullopt}, seconds - elapsed());
    if (!answer)
      return answer.status();
    if (answer->verdict != Verdict::possible)
      return Finding{answer->verdict};
    return finding(answer->choices, time);
  }

  Status noAnswer() const {
    return Status::badInput("'" + folder + "': Z3 gave no answer within " + formatSeconds(seconds) +
                            " for " + std::to_string(problem.layers.size()) +
                            " gradients; --z3-seconds gives it more");
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

/// About a plan that is not proved to be optimal: whether there is a better one.
Result<std::string> compareWithBest(Prover &prover, double finish, double bound) {
  Result<Finding> better = prover.beats(finish);
  if (!better)
    return better.status();
  if (better->verdict == Verdict::noAnswer && bound == 0)
    return prover.noAnswer();
  if (better->verdict == Verdict::impossible)
    return "Z3: no plan finishes before " + formatSeconds(finish) + " (proved in " +
           formatSeconds(prover.elapsed(), 2) + "): the plan is optimal, which it does not claim";
  std::string text = "Z3: the plan does not claim to be optimal";
  if (bound > 0)
    text = "Z3: no plan finishes before " + formatSeconds(bound) + " (proved in " +
           formatSeconds(prover.elapsed(), 2) + "); the plan finishes at " + formatSeconds(finish) +
           " and does not claim to be optimal";
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
  FailureOr<sync::ProblemOp> op = problemOf(solution);
  if (failed(op))
    return diagnostics.status("'" + folder + "/plan.mlir': expected a problem");
  FailureOr<problem::Problem> problem = toProblem(*op);
  if (failed(problem))
    return diagnostics.status("'" + folder + "/plan.mlir': not a problem");

  const double finish = solution.getFinish().convertToDouble();
  const double bound = solution.getBound().convertToDouble();
  Prover prover(folder, *problem, seconds);
  if (bound > 0) {
    Result<Finding> earlier = prover.beats(bound);
    if (!earlier)
      return earlier.status();
    if (earlier->verdict == Verdict::noAnswer)
      return prover.noAnswer();
    if (earlier->verdict == Verdict::possible)
      return Status::error(ErrorKind::internal,
                           "'" + folder + "' states a proof that no plan finishes before " +
                               formatSeconds(bound, 9) + ", but Z3 finds one that finishes at " +
                               formatSeconds(earlier->finish, 9));
  }
  if (!problem::isProved(finish, bound))
    return compareWithBest(prover, finish, bound);
  return "Z3: no plan finishes before " + formatSeconds(finish) + " (proved in " +
         formatSeconds(prover.elapsed(), 2) + ")";
}

} // namespace syncline::driver
