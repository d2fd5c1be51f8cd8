// Planner: the algorithms that answer a problem, by name. "optimal" is ours; the others are what
// people run today, to be compared with on the same problem and the same clock.
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

/// A planner's plan, and the proof of how early any plan could end.
struct PlanResult {
  Solution plan;
  BoundProof proof; ///< the array f where the problem is plain (see plainProblem)
  double bound = 0; ///< what it proves, seconds: no plan finishes earlier

  /// How much later than the bound the plan ends, relative to the bound: 0.2 is 20 % later.
  double gap() const { return bound > 0 ? plan.finish / bound - 1 : 0; }
  bool optimal() const { return isProved(plan.finish, bound); }
};

/// Immutable and thread-safe.
class Planner {
public:
  explicit Planner(std::string name) : specification(std::move(name)) {}
  virtual ~Planner() = default;

  /// As it was requested: "optimal", "ddp:25MiB".
  const std::string &name() const { return specification; }

  /// The planner's plan, timed by replay, with a proven bound beside it whichever planner it is.
  /// badInput, naming planner and layer, where the planner's rule has no answer: it needs a scheme
  /// that the problem does not offer, or gives a merge class what it may not carry. `options` limit
  /// the search where the problem is not plain. Precondition: the problem is valid. Deterministic.
  Result<PlanResult> plan(const Problem &problem, const SolverOptions &options = {}) const;

  /// Whether the planner is a rule, whose answer anybody can find again; "optimal" searches.
  bool isRule() const { return name() != "optimal"; }
  /// The rule's plan, timed by replay, without a bound: what plan() gives. badInput as there.
  /// Preconditions: isRule(), the problem is valid.
  Result<Solution> follow(const Problem &problem) const;

private:
  /// The planner's own choices; `earliestFinish` is empty where the problem is not plain.
  virtual Result<std::vector<Choice>> choose(const Problem &problem,
                                             std::span<const double> earliestFinish) const = 0;

  std::string specification;
};

/// For help texts: how a planner is written and what it does.
struct PlannerUsage {
  std::string_view form; ///< "ddp:SIZE"
  std::string_view text;
};

/// Every planner, "optimal" first.
std::span<const PlannerUsage> plannerUsages();

/// The best plan of the rules that need no size; nothing where none has an answer. No plan that
/// "optimal" gives ends later. Precondition: the problem is valid.
std::optional<Solution> bestRuledSolution(const Problem &problem);

/// The planner that `text` names. A size is a number with its unit: B, KB, MB, GB (powers of 1000),
/// KiB, MiB, GiB (powers of 1024). badUsage for an unknown name, a missing, superfluous or
/// malformed size; the message lists what exists.
Result<std::shared_ptr<const Planner>> parsePlanner(std::string_view text);

} // namespace syncline::solver
