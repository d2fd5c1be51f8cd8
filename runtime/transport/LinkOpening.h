// Connecting the two ends of links through the store.
#pragma once

#include "runtime/transport/RankConnections.h"
#include "runtime/transport/WatchedLink.h"

namespace syncline::transport {

/// Connects this rank's ends of the links of one Transport::open(): receiving ends listen and
/// publish where, sending ends connect.
class LinkOpening {
public:
  struct Limits {
    double startSeconds;   ///< until all ranks have begun to open their ends
    double timeoutSeconds; ///< from then on, until all are connected
  };

  /// Publishes this rank's places under its numeric `address` and waits for those of its peers.
  /// `ends`, the store and the monitor outlive the result.
  static Result<std::unique_ptr<LinkOpening>> begin(std::span<const LinkEnd> ends,
                                                    const std::string &address, Store &store,
                                                    const LinkMonitor &monitor, int rank,
                                                    Limits limits);

  /// Connects the i-th end. Different threads may connect different ends.
  Result<Socket> connect(std::size_t i) const;

private:
  LinkOpening(std::span<const LinkEnd> ends, const LinkMonitor &monitor, int rank)
      : ends(ends), monitor(monitor), rank(rank) {}
  Status publish(const std::string &address, Store &store);
  Result<std::string> placeOf(const LinkEnd &end, Store &store, core::Deadline deadline) const;
  std::string keyOf(const LinkEnd &end) const;
  Result<Socket> take(const LinkEnd &end, const ConnectLimit &limit) const;

  const std::span<const LinkEnd> ends;
  const LinkMonitor &monitor;
  const int rank;
  std::unique_ptr<RankListener> listener; ///< null where no end receives
  std::vector<std::string> places;        ///< of the peers, by end; empty for receiving ends
  core::Deadline deadline;                ///< of connect()
};

} // namespace syncline::transport
