// Pieces of text that reports on plans share.
#pragma once

#include "syncline/Status.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <type_traits>

namespace syncline::report {

/// "12.50 %" of 0.125.
std::string percent(double fraction);

/// `text` with '?' for control characters, which would reach the terminal.
std::string printable(std::string text);

/// Printable text of a name. Throws as nlohmann::json does where it is no string.
std::string printable(const nlohmann::json &name);

/// "fc.weight", "conv1.weight .. bn1.bias (3)".
std::string rangeSummary(const std::string &first, const std::string &last, std::size_t count);

/// rangeSummary of a list of names. Throws SchemaError where the list is empty.
std::string memberSummary(const nlohmann::json &members);

/// Formats bytes that are predicted, and so may be a fraction: "1.50 MiB".
std::string formatTraffic(double bytes);

/// The sum of what these buckets or fragments carry.
std::int64_t bytesOf(const nlohmann::json &buckets);

/// The number of channels on which the plan's messages take turns.
std::int64_t channelsOf(const nlohmann::json &plan);

/// "messages take up to 3.10 ms from computation": so much where it runs beside all of them, in the
/// planner's model. For 0 s "messages take nothing from computation", even if others would.
std::string slowingText(double lost);

/// What reports throw where a plan does not follow its schema; see guarded.
struct SchemaError {
  std::string message;
};

/// badInput for the SchemaError or JSON exception that is being handled; throws all others on.
Status schemaFault();

/// What `report` returns; badInput where it throws a SchemaError or a JSON exception.
template <typename Report> Result<std::invoke_result_t<Report>> guarded(Report report) {
  try {
    return report();
  } catch (...) {
    return schemaFault();
  }
}

} // namespace syncline::report
