// PlannerRows: the planners that users may name, a row each. The rows of a file stand beside the
// rules that it has; Planner.cpp joins them.
#pragma once

#include "passes/solver/Planner.h"

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace syncline::solver {

/// A planner that users may name.
struct PlannerRow {
  PlannerUsage usage;
  std::function<Planner::Method(std::int64_t)>
      method; ///< given the SIZE of the form, if it has one

  std::string_view name() const { return usage.form.substr(0, usage.form.find(':')); }
};

/// The method of a planner whose form has no argument.
inline std::function<Planner::Method(std::int64_t)> always(Planner::Method method) {
  return [method](std::int64_t) { return method; };
}

// Each returns its file's planners in the order of the help text.
std::vector<PlannerRow> groupingPlanners(); ///< ComparisonPlanners.cpp
std::vector<PlannerRow> schemePlanners();   ///< SchemePlanners.cpp
std::vector<PlannerRow> orderingPlanners(); ///< OrderRivals.cpp

} // namespace syncline::solver
