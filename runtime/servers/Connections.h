// The links between workers and servers.
#pragma once

#include "runtime/servers/Protocol.h"
#include "runtime/transport/Transport.h"

namespace syncline::servers {

/// Both directions between a worker and a server.
struct Connection {
  std::unique_ptr<transport::Link> to, from;

  explicit operator bool() const { return to != nullptr; }
};

/// One rank's connections. Ticks have their own, so that they do not queue behind values.
struct Connections {
  std::vector<Connection> shards;  ///< to every shard; empty on dedicated servers
  Connection keeper;               ///< for ticks; none on dedicated servers
  std::vector<Connection> workers; ///< to every worker; empty where the rank holds no shard
  std::vector<Connection> ticks;   ///< to every worker; empty on ranks that hold another shard
                                   ///< than the first one

  /// Opens them. All ranks call it together. A server waits for requests without a limit. Errors:
  /// peerLost; badInput where the roles differ from the transport's size.
  static Result<Connections> open(transport::Transport &transport, const Roles &roles);
};

/// Sends or receives values in pieces, so that a server's port is not flooded. No message is sent
/// for 0 bytes.
Status sendValues(transport::Link &link, const void *data, std::size_t bytes);
Status receiveValues(transport::Link &link, void *data, std::size_t bytes);

template <typename Message> Status sendMessage(transport::Link &link, const Message &message) {
  return link.send(&message, sizeof message);
}
template <typename Message> Status receiveMessage(transport::Link &link, Message &message) {
  return link.receive(&message, sizeof message);
}

} // namespace syncline::servers
