// Reading syncline_group_options.
#include "runtime/api/GroupSettings.h"

#include "syncline/PlanConstants.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace syncline::api {
namespace {

Status outOfRange(const char *option, const std::string &expected, const std::string &got) {
  return Status::error(ErrorKind::badUsage, "option '" + std::string(option) + "': expected " +
                                                expected + ", got " + got);
}

Status checkWhole(const char *option, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most)
    return Status::ok();
  return outOfRange(option,
                    "a number from " + std::to_string(least) + " to " + std::to_string(most),
                    std::to_string(value));
}

Status checkSeconds(const char *option, double value) {
  constexpr double most = 1e6;
  if (value >= 0 && value <= most)
    return Status::ok();
  return outOfRange(option, "seconds from 0 to 1000000", std::to_string(value));
}

/// The texts travel in the first frame of a connection (transport::maxHelloBytes).
Status checkText(const char *option, const char *text) {
  constexpr std::size_t most = 128;
  const std::size_t bytes = text ? std::strlen(text) : 0;
  if (bytes <= most)
    return Status::ok();
  return outOfRange(option, "at most " + std::to_string(most) + " bytes", std::to_string(bytes));
}

void take(std::string &to, const char *given) {
  if (given && *given)
    to = given;
}

} // namespace

Result<GroupSettings> GroupSettings::read(const syncline_group_options *options) {
  syncline_group_options own{};
  if (!options)
    return Status::error(ErrorKind::badUsage, "expected options of a group, got NULL");
  if (options->size < sizeof options->size)
    return Status::error(ErrorKind::badUsage, "options of a group: expected their size in 'size'");
  std::memcpy(&own, options, std::min<std::size_t>(options->size, sizeof own));
  SYNCLINE_TRY(checkWhole("ranks", own.ranks, 1, maxRanks));
  SYNCLINE_TRY(checkWhole("rank", own.rank, 0, own.ranks - 1));
  SYNCLINE_TRY(checkWhole("ranks_per_node", own.ranks_per_node, 0, maxRanks));
  SYNCLINE_TRY(checkWhole("port", own.port, 0, 65535));
  SYNCLINE_TRY(checkWhole("traced_steps", own.traced_steps, 0, 1'000'000));
  SYNCLINE_TRY(checkSeconds("start_seconds", own.start_seconds));
  SYNCLINE_TRY(checkSeconds("lost_seconds", own.lost_seconds));
  if (own.store && (!own.store->set || !own.store->get))
    return outOfRange("store", "both functions", "NULL");
  SYNCLINE_TRY(checkText("name", own.name));
  SYNCLINE_TRY(checkText("address", own.address));
  SYNCLINE_TRY(checkText("interface_name", own.interface_name));
  SYNCLINE_TRY(checkText("secret", own.secret));
  GroupSettings settings;
  settings.rank = own.rank;
  settings.ranks = own.ranks;
  settings.perNode = own.ranks_per_node;
  settings.port = own.port > 0 ? own.port : settings.port;
  settings.tracedSteps = own.traced_steps > 0 ? own.traced_steps : settings.tracedSteps;
  take(settings.name, own.name);
  take(settings.address, own.address);
  take(settings.interface, own.interface_name);
  take(settings.secret, own.secret);
  if (own.store)
    settings.store = *own.store;
  settings.startSeconds = own.start_seconds > 0 ? own.start_seconds : settings.startSeconds;
  settings.lostSeconds = own.lost_seconds > 0 ? own.lost_seconds : settings.lostSeconds;
  settings.done = own.done;
  settings.doneContext = own.done_context;
  return settings;
}

} // namespace syncline::api
