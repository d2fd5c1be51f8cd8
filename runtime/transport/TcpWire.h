// Messages over a TCP connection.
#pragma once

#include "runtime/transport/Socket.h"
#include "runtime/transport/Wire.h"

#include <memory>

namespace syncline::transport {

/// On the connection each message is its length as u64, little endian, and its bytes. The thread
/// that waits also reads the socket: where a thread of its own does so and shares a processor with
/// the computation, a message takes a scheduler's slice (4 ms) instead of 0.1 ms.
class TcpWire : public Wire {
public:
  /// `peerName` is for messages: "rank 3". Errors: badInput, where the connection cannot be used.
  static Result<std::unique_ptr<Wire>> create(Socket connection, double timeoutSeconds,
                                              std::string peerName);

  Status send(const void *data, std::size_t bytes) override;
  Status receive(void *data, std::size_t bytes) override;
  void interrupt() override;

private:
  TcpWire(Socket connection, double timeoutSeconds, std::string peerName)
      : connection(std::move(connection)), timeoutSeconds(timeoutSeconds),
        peerName(std::move(peerName)) {}
  bool holdAtOnce(std::size_t bytes);
  Status fill(void *data, std::size_t bytes) const;

  const Socket connection;
  const double timeoutSeconds;
  const std::string peerName;
  std::size_t held = 0; ///< bytes of messages that the send buffer holds
};

} // namespace syncline::transport
