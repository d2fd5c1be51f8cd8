// Two plans, decision by decision.
#pragma once

#include "syncline/Status.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace syncline::report {

/// A plan.json and what to call it: the folder it was read from.
struct NamedPlan {
  const nlohmann::json &plan;
  std::string name;
};

/// What differs between two plans: what they were made for and by whom, the predictions side by
/// side, and in backward order the gradients that travel otherwise: by another scheme, or with
/// other gradients. Neighbours that differ alike share a line; "same decisions" where none does.
/// Gradients that only one plan has are named. From the two documents alone; time
/// O(n log n) in gradients. Errors: badInput where a document does not follow the plan schema, or
/// where the plans have no gradient in common.
Result<std::string> planDiff(const NamedPlan &left, const NamedPlan &right);

} // namespace syncline::report
