// A plan as text for people.
#pragma once

#include "syncline/Status.h"

#include <nlohmann/json.hpp>

#include <string>

namespace syncline::driver {

/// A header (model, cluster, planner), a table of buckets in issue order, and the totals: step,
/// exposed communication, bound and gap; the word 'optimal' only where it is proved. `allMembers`
/// lists every gradient. Errors: badInput where `plan` does not follow the plan schema.
Result<std::string> planReport(const nlohmann::json &plan, bool allMembers);

} // namespace syncline::driver
