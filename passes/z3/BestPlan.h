// BestPlan: the plan that finishes first among those with few messages, by questions to Z3.
#pragma once

#include "passes/z3/Z3Judge.h"

#include <functional>

namespace syncline::z3judge {

/// The most layers of a problem about which Z3 is asked. More would take too long.
inline constexpr std::size_t maxAskedLayers = 100;

/// When a plan with these choices finishes, in seconds; an error where they are no plan.
using Clock = std::function<Result<double>(const std::vector<Choice> &)>;

/// What is known before Z3 is asked. The closer, the fewer questions.
struct Known {
  double bound = 0;                                       ///< seconds; no plan finishes earlier
  std::optional<std::vector<Choice>> plan = std::nullopt; ///< one with few enough messages
};

/// The plan that finishes first among those with at most `maxMessages` messages: none finishes
/// earlier by more than sumRounding, as Z3 proves where `known` does not. `possible` comes with
/// that plan's choices, `impossible` means that no plan has so few messages, and `noAnswer` that
/// the questions together would take more than `seconds`. badInput where a question is needed about
/// more than maxAskedLayers layers; internal where the clock disagrees with Z3; other errors are
/// those of findPlan and of `clock`. Precondition: the problem is valid.
Result<Answer> findBestPlan(const Problem &problem, std::size_t maxMessages, const Known &known,
                            double seconds, const Clock &clock);

} // namespace syncline::z3judge
