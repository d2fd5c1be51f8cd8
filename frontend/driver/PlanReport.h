// A plan as text for people.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace syncline::driver {

/// A header (model, cluster, planner), a table of buckets in issue order, and the totals: step,
/// exposed communication, bound and gap; the word 'optimal' only where it is proved. `allMembers`
/// lists every gradient. Precondition: `plan` follows the plan schema.
std::string planReport(const nlohmann::json &plan, bool allMembers);

} // namespace syncline::driver
