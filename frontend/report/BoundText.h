// What the planner proved of a plan's step.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace syncline::report {

/// The planner's bound and verdict: "3.40 ms: optimal, proved by the certificate", with the line's
/// end; then a line that says why the predicted step is shorter, where it is. Throws as guarded()
/// expects where the plan does not follow its schema.
std::string boundText(const nlohmann::json &plan);

} // namespace syncline::report
