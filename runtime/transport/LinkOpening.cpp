// Places in the store: "ADDRESS PORT SECRET".
#include "runtime/transport/LinkOpening.h"

namespace syncline::transport {

using core::Deadline;

constexpr const char *late = "it did not connect in time";

/// The store's key under which the receiving end publishes where it listens.
std::string LinkOpening::keyOf(const LinkEnd &end) const {
  const int sender = end.sends ? rank : end.peer, receiver = end.sends ? end.peer : rank;
  return "link/" + end.name + "/" + std::to_string(sender) + "/" + std::to_string(receiver);
}

Result<std::unique_ptr<LinkOpening>> LinkOpening::begin(std::span<const LinkEnd> ends,
                                                        const std::string &address, Store &store,
                                                        const LinkMonitor &monitor, int rank,
                                                        Limits limits) {
  const Deadline begun = core::deadlineIn(limits.startSeconds);
  std::unique_ptr<LinkOpening> opening(new LinkOpening(ends, monitor, rank));
  SYNCLINE_TRY(opening->publish(address, store));
  // Places are read one after the other, because the store answers one request at a time.
  for (const LinkEnd &end : ends) {
    SYNCLINE_TRY_GET(place, end.sends ? opening->placeOf(end, store, begun) : std::string());
    opening->places.push_back(std::move(*place));
  }
  // All ranks have begun to open their ends.
  opening->deadline = core::deadlineIn(limits.startSeconds + limits.timeoutSeconds);
  return opening;
}

Status LinkOpening::publish(const std::string &address, Store &store) {
  for (const LinkEnd &end : ends) {
    if (end.sends)
      continue;
    if (!listener) {
      SYNCLINE_TRY_GET(opened, RankListener::open(address));
      listener = std::move(*opened);
    }
    SYNCLINE_TRY(store.set(keyOf(end), address + " " + listener->place()));
  }
  return Status::ok();
}

/// Reads where the peer listens.
Result<std::string> LinkOpening::placeOf(const LinkEnd &end, Store &store, Deadline begun) const {
  Watch::Waiting waiting(monitor.watcher(), end.peer, end.sends);
  SYNCLINE_TRY_GET(place, store.get(keyOf(end), begun));
  if (!*place)
    return monitor.blame(end.peer, late);
  return **place;
}

Result<Socket> LinkOpening::connect(std::size_t i) const {
  const LinkEnd &end = ends[i];
  Watch *const watch = monitor.watcher();
  Watch::Waiting waiting(watch, end.peer, end.sends);
  const ConnectLimit limit{deadline, [watch] { return watch && watch->verdict(); }};
  if (!end.sends)
    return take(end, limit);
  const std::string &place = places[i];
  const std::size_t space = place.find(' ');
  Result<Socket> socket =
      connectToRank(place.substr(0, space), place.substr(space + 1), keyOf(end), limit);
  if (!socket && socket.status().kind() == ErrorKind::peerLost)
    return monitor.blame(end.peer, socket.status().message());
  return socket;
}

Result<Socket> LinkOpening::take(const LinkEnd &end, const ConnectLimit &limit) const {
  std::optional<Socket> socket = listener->take(keyOf(end), limit);
  if (socket)
    return std::move(*socket);
  const std::string trouble = limit.isOver() ? "" : listener->trouble();
  if (trouble.empty())
    return monitor.blame(end.peer, late);
  return Status::badInput("cannot take the connection of " + monitor.nameOf(end.peer) + ": " +
                          trouble);
}

} // namespace syncline::transport
