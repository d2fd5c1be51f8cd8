// Planner: the algorithms that answer a merge problem, by name. "optimal" is ours; the others are
// what people run today, to be compared with on the same problem and the same clock.
#pragma once

#include "passes/solver/Merge.h"
#include "passes/solver/MergeProblem.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace syncline::solver {

/// Immutable and thread-safe.
class Planner {
public:
  explicit Planner(std::string name) : specification(std::move(name)) {}
  virtual ~Planner() = default;

  /// As it was asked for: "optimal", "ddp:25MiB".
  const std::string &name() const { return specification; }

  /// The planner's plan, timed by replay, with a proven bound beside it whichever planner it is.
  /// Precondition: the problem is valid. Deterministic.
  MergeResult plan(const MergeProblem &problem) const;

  /// The ends of the groups (see replay), given f (see earliestFinishTimes).
  virtual std::vector<std::size_t> groupEnds(const MergeProblem &problem,
                                             std::span<const double> earliestFinish) const = 0;

private:
  std::string specification;
};

/// For help texts: how a planner is written and what it does.
struct PlannerUsage {
  std::string_view form; ///< "ddp:SIZE"
  std::string_view text;
};

/// Every planner, "optimal" first.
std::span<const PlannerUsage> plannerUsages();

/// The planner that `text` names. A size is a number with its unit: B, KB, MB, GB (powers of 1000),
/// KiB, MiB, GiB (powers of 1024). badUsage for an unknown name, a missing, superfluous or
/// malformed size; the message lists what exists.
Result<std::shared_ptr<const Planner>> parsePlanner(std::string_view text);

} // namespace syncline::solver
