// Pieces of text that reports on plans share.
#include "frontend/report/PlanText.h"

#include "frontend/files/FormatUnits.h"
#include "syncline/Printable.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace syncline::report {

std::string percent(double fraction) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%", 100 * fraction);
  return text;
}

std::string printable(const nlohmann::json &name) { return printable(name.get<std::string>()); }

std::string printable(std::string text) { return syncline::printable(std::move(text)); }

std::string rangeSummary(const std::string &first, const std::string &last, std::size_t count) {
  return count == 1 ? first : first + " .. " + last + " (" + std::to_string(count) + ")";
}

std::string memberSummary(const nlohmann::json &members) {
  if (!members.is_array() || members.empty())
    throw SchemaError{"a bucket has no members"};
  return rangeSummary(printable(members.front()), printable(members.back()), members.size());
}

std::string formatTraffic(double bytes) {
  // A hand-written plan may state any number; one beyond 64-bit integers is no amount of bytes.
  if (!(std::fabs(bytes) < 9e18))
    throw SchemaError{"expected traffic in bytes, got " + std::to_string(bytes)};
  return files::formatBytes(std::llround(bytes));
}

std::int64_t bytesOf(const nlohmann::json &buckets) {
  std::int64_t bytes = 0;
  for (const nlohmann::json &bucket : buckets)
    bytes += bucket.at("bytes").get<std::int64_t>();
  return bytes;
}

std::int64_t channelsOf(const nlohmann::json &plan) {
  std::int64_t last = 0;
  for (const nlohmann::json &bucket : plan.at("buckets"))
    last = std::max(last, bucket.value("channel", std::int64_t{0}));
  return last + 1;
}

std::string slowingText(double lost) {
  return lost > 0 ? "messages take up to " + files::formatSeconds(lost) + " from computation"
                  : "messages take nothing from computation";
}

Status schemaFault() {
  try {
    throw;
  } catch (const SchemaError &error) {
    return Status::badInput("the plan does not follow its schema: " + error.message);
  } catch (const nlohmann::json::exception &error) {
    // "[json.exception.out_of_range.403] key 'ranks' not found"
    const std::string text = error.what();
    const std::size_t end = text.find("] ");
    return Status::badInput("the plan does not follow its schema: " +
                            (end == std::string::npos ? text : text.substr(end + 2)));
  }
}

} // namespace syncline::report
