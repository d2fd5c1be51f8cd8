// Why a gradient's bucket has the members that it has, as text for people.
#pragma once

#include "passes/explain/Regrouping.h"

#include <string>
#include <vector>

namespace syncline::report {

/// Facts for the text that a grouping does not know.
struct GroupingContext {
  const std::vector<std::string> &gradients; ///< names, in backward order
  std::string planner;
  bool optimal = false; ///< whether the plan is proved optimal
  double updates = 0;   ///< seconds of all updates, behind the finish
};

/// Text: the bucket; a table of what the step would be with other members; why they travel together
/// and why the cuts before and behind them are there; what the planner's rule for cuts costs.
std::string groupingText(const explain::Grouping &grouping, const GroupingContext &context);

} // namespace syncline::report
