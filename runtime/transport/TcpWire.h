// Messages over a TCP connection.
#pragma once

#include "runtime/transport/Socket.h"
#include "runtime/transport/Transport.h"
#include "runtime/transport/Wire.h"

#include <memory>

namespace syncline::transport {

/// On the connection each message is its length in 56 bits and its tag in 8, little endian, and its
/// bytes. The thread that waits also reads the socket: where a thread of its own does so and shares
/// a processor with the computation, a message takes a scheduler's slice (4 ms) instead of 0.1 ms.
class TcpWire : public Wire {
public:
  /// `peerName` is for messages: "rank 3". Without a `tag` messages have 0. Errors: badInput, where
  /// the connection cannot be used.
  static Result<std::unique_ptr<Wire>> create(Socket connection, double timeoutSeconds,
                                              std::string peerName,
                                              std::shared_ptr<const MessageTag> tag = {});

  Status send(const void *data, std::size_t bytes) override;
  Status receive(void *data, std::size_t bytes) override;
  void interrupt() override;

private:
  TcpWire(Socket connection, double timeoutSeconds, std::string peerName,
          std::shared_ptr<const MessageTag> tag)
      : connection(std::move(connection)), timeoutSeconds(timeoutSeconds),
        peerName(std::move(peerName)), tag(std::move(tag)) {}
  Status checkHead(std::uint64_t head, std::size_t bytes) const;
  /// "for a sum of 'f32'": what a tag stands for at this end.
  std::string purpose(std::uint8_t number) const;
  bool holdAtOnce(std::size_t bytes);
  Status fill(void *data, std::size_t bytes) const;

  const Socket connection;
  const double timeoutSeconds;
  const std::string peerName;
  const std::shared_ptr<const MessageTag> tag; ///< null without one
  std::size_t held = 0;                        ///< bytes of messages that the send buffer holds
};

} // namespace syncline::transport
