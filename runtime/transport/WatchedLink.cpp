// Waiting and blaming around a wire.
#include "runtime/transport/WatchedLink.h"

#include "runtime/core/Guarded.h"

namespace syncline::transport {

Status LinkMonitor::blame(int peer, const std::string &what) const {
  if (!watch)
    return Status::error(ErrorKind::peerLost, "lost " + names.of(peer) + ": " + what);
  return watch->blame(rank, peer, what, names);
}

void LinkMonitor::add(Wire &wire) {
  std::lock_guard lock(wiresMutex);
  wires.insert(&wire);
  if (isInterrupted)
    wire.interrupt();
}

void LinkMonitor::remove(Wire &wire) {
  std::lock_guard lock(wiresMutex);
  wires.erase(&wire);
}

void LinkMonitor::interrupt() {
  std::lock_guard lock(wiresMutex);
  isInterrupted = true;
  for (Wire *wire : wires)
    wire->interrupt();
}

template <typename F> Status WatchedLink::carry(bool sends, std::size_t bytes, const F &call) {
  if (!outcome)
    return outcome;
  Watch::Waiting waiting(isPatient && !sends ? nullptr : monitor.watcher(), peer, sends);
  outcome = core::guarded([&] {
    const Status s = call();
    return s || s.kind() != ErrorKind::peerLost ? s : monitor.blame(peer, s.message());
  });
  if (outcome)
    monitor.count(sends, bytes);
  return outcome;
}

Status WatchedLink::send(const void *data, std::size_t bytes) {
  return carry(/*sends=*/true, bytes, [&] { return wire->send(data, bytes); });
}

Status WatchedLink::receive(void *data, std::size_t bytes) {
  return carry(/*sends=*/false, bytes, [&] { return wire->receive(data, bytes); });
}

} // namespace syncline::transport
