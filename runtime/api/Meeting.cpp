// Rank 0's place, by a store of the caller's or agreed on before.
#include "runtime/api/Meeting.h"

#include "runtime/transport/RankConnections.h"

#include <charconv>
#include <vector>

namespace syncline::api {
namespace {

/// The key of the store under which rank 0 publishes "PORT ADDRESS SECRET".
std::string keyOf(const GroupSettings &settings) { return "syncline/" + settings.name + "/rank0"; }

Status publish(const GroupSettings &settings, transport::GroupOptions &meeting) {
  const std::string &address = settings.address;
  SYNCLINE_TRY_GET(listener,
                   transport::Socket::listen(0, transport::isLoopback(address) ? address : ""));
  meeting.key.secret = transport::makeSecret();
  const std::string place =
      std::to_string(listener->localPort()) + " " + address + " " + meeting.key.secret;
  const syncline_store &store = *settings.store;
  if (store.set(store.context, keyOf(settings).c_str(), place.data(), place.size()) != 0)
    return Status::badInput("cannot set '" + keyOf(settings) + "' in the caller's store");
  meeting.listener = listener->release();
  return Status::ok();
}

Status look(const GroupSettings &settings, transport::GroupOptions &meeting) {
  const syncline_store &store = *settings.store;
  std::string place(1024, '\0');
  const std::int64_t bytes = store.get(store.context, keyOf(settings).c_str(), place.data(),
                                       place.size(), settings.startSeconds);
  if (bytes < 0)
    return Status::error(ErrorKind::peerLost, "no sign in time of rank 0: it has not set '" +
                                                  keyOf(settings) + "' in the caller's store");
  place.resize(std::min<std::size_t>(place.size(), static_cast<std::size_t>(bytes)));
  const std::size_t first = place.find(' '), second = place.rfind(' ');
  std::from_chars(place.data(), place.data() + place.size(), meeting.port);
  if (first == second || first == std::string::npos || meeting.port <= 0 || meeting.port > 65535)
    return Status::badInput("the caller's store has no place of a rank 0 under '" +
                            keyOf(settings) + "'");
  meeting.address = place.substr(first + 1, second - first - 1);
  meeting.key.secret = place.substr(second + 1);
  return Status::ok();
}

} // namespace

Result<transport::GroupOptions> findMeeting(const GroupSettings &settings) {
  transport::GroupOptions meeting;
  meeting.rank = settings.rank;
  meeting.size = settings.ranks;
  meeting.address = settings.address;
  meeting.port = settings.port;
  meeting.interface = settings.interface;
  meeting.key = {"group '" + settings.name + "'", settings.secret};
  meeting.startSeconds = settings.startSeconds;
  if (settings.ranks == 1) { // nobody else comes, so that any port will do
    SYNCLINE_TRY_GET(listener, transport::Socket::listen(0, "127.0.0.1"));
    meeting.address = "127.0.0.1";
    meeting.listener = listener->release();
  } else if (settings.store) {
    SYNCLINE_TRY(settings.rank == 0 ? publish(settings, meeting) : look(settings, meeting));
  }
  return meeting;
}

} // namespace syncline::api
