// Links that tell the watch for whom they wait, and errors that name the rank at fault.
#pragma once

#include "runtime/transport/Store.h"
#include "runtime/transport/Transport.h"
#include "runtime/transport/Wire.h"

#include <set>

namespace syncline::transport {

/// What the links of one rank share. Thread-safe.
class LinkMonitor {
public:
  /// `watch` may be null.
  LinkMonitor(int rank, core::RankNames names, Watch *watch)
      : rank(rank), names(names), watch(watch) {}

  Watch *watcher() const { return watch; }
  std::string nameOf(int peer) const { return names.of(peer); }
  /// The error where something was seen of `peer`, naming the rank at fault: "rank 3 has ended".
  Status blame(int peer, const std::string &what) const;

  void count(bool sends, std::size_t bytes) {
    (sends ? sent : received) += static_cast<std::int64_t>(bytes);
  }
  Traffic traffic() const { return {sent, received}; }

  /// The wires that interrupt() ends, and those that are added later.
  void add(Wire &wire);
  void remove(Wire &wire);
  void interrupt();

private:
  const int rank;
  const core::RankNames names;
  Watch *const watch;
  std::atomic<std::int64_t> sent = 0, received = 0;
  std::mutex wiresMutex;
  std::set<Wire *> wires;
  bool isInterrupted = false;
};

/// A link over a wire of any kind. A peer is blamed only for what the wire has seen of it: an
/// exception, such as for want of memory, is a failure of this process.
class WatchedLink : public Link {
public:
  /// The monitor outlives the link.
  WatchedLink(LinkMonitor &monitor, int peer, bool isPatient, std::unique_ptr<Wire> wire)
      : monitor(monitor), peer(peer), isPatient(isPatient), wire(std::move(wire)) {
    monitor.add(*this->wire);
  }
  ~WatchedLink() override { monitor.remove(*wire); }

  Status send(const void *data, std::size_t bytes) override;
  Status receive(void *data, std::size_t bytes) override;

private:
  template <typename F> Status carry(bool sends, std::size_t bytes, const F &call);

  LinkMonitor &monitor;
  const int peer;
  const bool isPatient;
  std::unique_ptr<Wire> wire;
  Status outcome; ///< of all calls so far; the first error stays
};

} // namespace syncline::transport
