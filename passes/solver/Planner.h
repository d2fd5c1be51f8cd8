// Planner: the algorithms that solve a problem, by name. "optimal" is ours. The others are in use
// today; they run on the same problem and the same clock for comparison.
#pragma once

#include "passes/solver/Solver.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace syncline::solver {

using namespace problem;

/// A planner's solution, and the proof of how early any solution could end.
struct PlanResult {
  Solution plan;
  BoundProof proof; ///< a MergeCertificate where the problem is plain (plainProblem)
  double bound = 0; ///< what the proof proves, seconds: no solution finishes earlier

  /// How much later than the bound the solution ends, relative to the bound: 0.2 means 20 % later.
  double gap() const { return bound > 0 ? plan.finish / bound - 1 : 0; }
  bool optimal() const { return isProved(plan.finish, bound); }
};

/// A planner. Immutable and thread-safe.
class Planner {
public:
  explicit Planner(std::string name) : specification(std::move(name)) {}
  virtual ~Planner() = default;

  /// The planner's name as the user gave it: "optimal", "ddp:25MiB".
  const std::string &name() const { return specification; }

  /// The planner's solution, timed by replay, with a proved bound whichever planner it is. Returns
  /// badInput, naming planner and layer, where the planner's rule has no answer: it needs a scheme
  /// that the problem does not offer, or exceeds what a merge class may carry. `options` limit the
  /// search where the problem is not plain. Deterministic. Precondition: the problem is valid.
  Result<PlanResult> plan(const Problem &problem, const SolverOptions &options = {}) const;

  /// Whether the planner is a rule, whose answer can be computed again; "optimal" searches.
  bool isRule() const { return name() != "optimal"; }
  /// The rule's solution, timed by replay, as plan() gives it but without a bound. Returns badInput
  /// as plan() does. Preconditions: isRule(), and the problem is valid.
  Result<Solution> follow(const Problem &problem) const;

private:
  /// The planner's choices; `earliestFinish` is empty where the problem is not plain.
  virtual Result<std::vector<Choice>> choose(const Problem &problem,
                                             std::span<const double> earliestFinish) const = 0;

  std::string specification;
};

/// How a planner is written on the command line and what it does, for help texts.
struct PlannerUsage {
  std::string_view form; ///< "ddp:SIZE"
  std::string_view text;
};

/// Every planner, "optimal" first.
std::span<const PlannerUsage> plannerUsages();

/// The best solution of the rules that need no size; nothing where none has an answer. The solution
/// of "optimal" never ends later. Precondition: the problem is valid.
std::optional<Solution> bestRuledSolution(const Problem &problem);

/// The planner that `text` names. A size is a number with a unit: B, KB, MB, GB (powers of 1000),
/// KiB, MiB, GiB (powers of 1024). Returns badUsage for an unknown name and for a missing,
/// superfluous or malformed size; the message lists the planners.
Result<std::shared_ptr<const Planner>> parsePlanner(std::string_view text);

} // namespace syncline::solver
