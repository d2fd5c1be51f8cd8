// The plans of one folder for several sizes of a dimension, as text for people.
#pragma once

#include "syncline/Status.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace syncline::report {

/// A plan for one size.
struct SizedPlan {
  std::int64_t size = 0;
  std::string folder;
  const nlohmann::json *plan = nullptr; ///< its plan.json
};

/// A table with a row for each plan: size, predicted step, exposed communication, memory and
/// folder. Errors: badInput where a plan does not follow the plan schema.
Result<std::string> sizesTable(const std::string &dimension, const std::vector<SizedPlan> &plans);

} // namespace syncline::report
