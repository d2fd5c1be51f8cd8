// A plan's messages as a table.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace syncline::report {

/// A line a bucket, and what the columns mean. With `allMembers` a line for every gradient too.
/// Otherwise, where a plan has more than 40 buckets, those that come again for every block of the
/// network have a line for all further times together. Throws as nlohmann::json does where the plan
/// does not follow its schema.
std::string bucketTable(const nlohmann::json &plan, bool allMembers);

} // namespace syncline::report
