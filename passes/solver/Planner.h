// Planner: the algorithms that solve a problem, by name. "optimal" is ours. The others are in use
// today; they run on the same problem and the same clock for comparison.
#pragma once

#include "passes/solver/PlannerRows.h"
#include "passes/solver/Solver.h"

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

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

/// A planner: a name, and how it plans. Immutable and thread-safe.
class Planner {
public:
  using Method = PlannerMethod;

  Planner(std::string name, Method method, std::optional<std::size_t> maxMessages = std::nullopt)
      : specification(std::move(name)), method(std::move(method)), limit(maxMessages) {}

  /// The planner's name as the user gave it: "optimal", "ddp:25MiB".
  const std::string &name() const { return specification; }

  /// The planner's solution, timed by replay, with a proved bound whichever planner it is: that of
  /// all plans. Returns badInput, naming planner and layer, where the planner's rule has no answer:
  /// it needs a scheme that the problem does not offer, or exceeds what a merge class may carry, or
  /// only orders messages (OrderPlanner.h). `options` limit the search where the problem is not
  /// plain. Deterministic. Precondition: the problem is valid.
  Result<PlanResult> plan(const Problem &problem, const SolverOptions &options = {}) const;

  /// The most messages that a plan may have, for a planner that searches among such plans only.
  std::optional<std::size_t> maxMessages() const { return limit; }

  /// Whether it plans wherever it is asked. Others answer in 'syncline compile' only, where Z3 or
  /// the plans of other sizes are at hand.
  bool plansAnew() const;

  /// Null for a planner that is not our own search.
  const Search *search() const { return std::get_if<Search>(&method); }
  /// Null for a planner that does not only order messages.
  const OrderRule *orderRule() const { return std::get_if<OrderRule>(&method); }

  /// Whether this is "optimal".
  bool isOptimal() const { return search() && search()->isPlain(); }

private:
  std::string specification;
  Method method;
  std::optional<std::size_t> limit;
};

/// Every planner that users may name, "optimal" first.
std::vector<PlannerUsage> plannerUsages();

/// The best of the solutions that rules without a size give and that have at most `maxMessages`
/// messages; nothing where there is none. The solution of a planner that searches among as many
/// messages never ends later. Precondition: the problem is valid.
std::optional<Solution>
bestRuledSolution(const Problem &problem,
                  std::size_t maxMessages = std::numeric_limits<std::size_t>::max());

/// The planner that a user names by `text`. A size is a number with a unit: B, KB, MB, GB (powers
/// of 1000), KiB, MiB, GiB (powers of 1024). Returns badUsage for an unknown name and for a
/// missing, superfluous or malformed size or limit; the message lists the planners.
///
/// "z3:messages=N" is known by name only: its plan() returns badInput, since this library does not
/// know Z3. `syncline compile` puts a planner of the same name in its place.
Result<std::shared_ptr<const Planner>> parsePlanner(std::string_view text);

/// "sums": our own search without factors and rows.
std::shared_ptr<const Planner> sumsPlanner();

/// "micro-batches:N": our own search where factors and rows take N times as long, from 1
/// to mostMicroBatches.
std::shared_ptr<const Planner> microBatchesPlanner(std::int64_t microBatches);

/// "inflated:P", "inflated:P:whole": our own search where messages take P % longer, from 0 to
/// mostInflation, and where no bucket of an order travels in halves. Times, and the bound, are
/// those of the problem as it is.
std::shared_ptr<const Planner> inflatedPlanner(int percent, bool inHalves);
inline constexpr int mostInflation = 100;

/// The planner by whose name a plan says that it was made: one that users may name, "sums" or
/// "micro-batches:N", which `compile --accumulate` compares, "inflated:..", which `compile` tries
/// where steps scatter, or "common" (CommonPlanner.h). Returns badUsage as parsePlanner() does.
Result<std::shared_ptr<const Planner>> plannerOfPlan(std::string_view name);

} // namespace syncline::solver
