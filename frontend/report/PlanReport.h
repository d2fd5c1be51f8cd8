// A plan as text for people.
#pragma once

#include "syncline/Status.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

namespace syncline::report {

/// A header (model, planner, ranks and servers), a table of buckets in issue order with scheme and
/// traffic, and the totals: traffic; step and exposed communication in virtual time; the planner's
/// finish in its own model, with bound and gap, and the word 'optimal' only where it is proved. The
/// column 'reconstructed' stands where a plan has gradients that are reconstructed from factors,
/// after their message has ended. `allMembers` lists every gradient and every bucket. Where ranks
/// have unequal batches, `samples` is what all of them take in a step of one micro-batch. Errors:
/// badInput where `plan` does not follow the plan schema.
Result<std::string> planReport(const nlohmann::json &plan, bool allMembers,
                               std::int64_t samples = 0);

} // namespace syncline::report
