// Planner: the algorithms that solve a problem, by name. "optimal" is ours. The others are in use
// today; they run on the same problem and the same clock for comparison.
#pragma once

#include "passes/problem/OrderProblem.h"
#include "passes/solver/Solver.h"

#include <cstddef>
#include <functional>
#include <limits>
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

/// A rule of a planner that orders messages under the next forward pass.
using OrderRule = std::function<Result<OrderSolution>(const OrderProblem &)>;

/// A planner. Immutable and thread-safe.
class Planner {
public:
  explicit Planner(std::string name, std::optional<std::size_t> maxMessages = std::nullopt,
                   std::optional<double> gatherPrice = std::nullopt)
      : specification(std::move(name)), limit(maxMessages), price(gatherPrice) {}
  virtual ~Planner() = default;

  /// The planner's name as the user gave it: "optimal", "ddp:25MiB".
  const std::string &name() const { return specification; }

  /// The planner's solution, timed by replay, with a proved bound whichever planner it is. Returns
  /// badInput, naming planner and layer, where the planner's rule has no answer: it needs a scheme
  /// that the problem does not offer, or exceeds what a merge class may carry. `options` limit the
  /// search where the problem is not plain. Deterministic. Precondition: the problem is valid.
  Result<PlanResult> plan(const Problem &problem, const SolverOptions &options = {}) const;

  /// The most messages that a plan may have, for a planner that searches among such plans only.
  std::optional<std::size_t> maxMessages() const { return limit; }

  /// Whether the planner is a rule, whose answer can be computed again.
  bool isRule() const { return !isOptimal() && !gatherPrice() && !limit; }
  /// The rule's solution, timed by replay, as plan() gives it but without a bound. Returns badInput
  /// as plan() does. Preconditions: isRule(), and the problem is valid.
  Result<Solution> follow(const Problem &problem) const;

  /// The rule of a planner that only orders messages under the next forward pass (OrderPlanner.h);
  /// its plan() and follow() return badInput. Null for every other planner.
  virtual const OrderRule *orderRule() const { return nullptr; }

  /// Whether this is our own planner, which searches among all plans.
  bool isOptimal() const { return specification == "optimal"; }

  /// How many times as dear messages by factors and rows are for our own planner, where steps have
  /// several passes (Gathering.h): infinitely for "sums", which has none of them, and N times for
  /// "passes:N". The bound is that of all plans. Nothing for other planners.
  std::optional<double> gatherPrice() const { return price; }
  bool sumsOnly() const { return price == std::numeric_limits<double>::infinity(); }

private:
  /// The planner's choices; `earliestFinish` is empty where the problem is not plain.
  virtual Result<std::vector<Choice>> choose(const Problem &problem,
                                             std::span<const double> earliestFinish) const = 0;
  /// plan() where there is a gatherPrice().
  Result<PlanResult> planPriced(const Problem &problem, const SolverOptions &options) const;

  std::string specification;
  std::optional<std::size_t> limit;
  std::optional<double> price;
};

/// How a planner is written on the command line and what it does, for help texts.
struct PlannerUsage {
  std::string_view form; ///< "ddp:SIZE", "z3:messages=N"
  std::string_view text;
};

/// Every planner, "optimal" first.
std::span<const PlannerUsage> plannerUsages();

/// The best of the solutions that rules without a size give and that have at most `maxMessages`
/// messages; nothing where there is none. The solution of a planner that searches among as many
/// messages never ends later. Precondition: the problem is valid.
std::optional<Solution>
bestRuledSolution(const Problem &problem,
                  std::size_t maxMessages = std::numeric_limits<std::size_t>::max());

/// The planner that `text` names. A size is a number with a unit: B, KB, MB, GB (powers of 1000),
/// KiB, MiB, GiB (powers of 1024). Returns badUsage for an unknown name and for a missing,
/// superfluous or malformed size, limit or number of passes; the message lists the planners.
///
/// "z3:messages=N" is known by name only: its plan() returns badInput, since this library does not
/// know Z3. `syncline compile` puts a planner of the same name in its place.
Result<std::shared_ptr<const Planner>> parsePlanner(std::string_view text);

} // namespace syncline::solver
