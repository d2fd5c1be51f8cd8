// TCP sockets with deadlines, and the frames of the rendezvous protocol.
#pragma once

#include "runtime/core/Deadline.h"
#include "syncline/Status.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace syncline::transport {

/// Owns a file descriptor.
class Socket {
public:
  Socket() = default;
  explicit Socket(int fd) : fd(fd) {}
  Socket(Socket &&other) noexcept : fd(other.release()) {}
  Socket &operator=(Socket &&other) noexcept;
  ~Socket() { close(); }

  int get() const { return fd; }
  bool isOpen() const { return fd >= 0; }
  int release();
  void close();

  /// Listens on a numeric address of this host, or on all addresses if it is empty. Port 0 picks a
  /// free port.
  static Result<Socket> listen(int port, const std::string &address = {});
  /// Connects, and repeats attempts until the host has an address and the port answers, or the
  /// deadline passes. Errors: badInput for an unknown host or when this process has no free file
  /// descriptor; otherwise peerLost, with the system's reason.
  static Result<Socket> connect(const std::string &host, int port, core::Deadline deadline);

  /// Two ends that are connected. They are not open where this process has no free file descriptor.
  static std::pair<Socket, Socket> pair();

  /// Accepts the next connection of a listening socket. The result is not open, and errno has the
  /// reason, when there is no connection or this process cannot take more.
  Socket accept() const;
  /// Waits for input until the deadline: bytes, a close by the other end, or a new connection.
  bool hasInput(core::Deadline deadline) const;
  /// Waits until a send takes bytes, or would fail, by the deadline.
  bool hasRoom(core::Deadline deadline) const;

  /// Makes the socket blocking. A send or a receive without progress for `seconds` then fails.
  bool limitWaits(double seconds) const;

  int localPort() const;
  /// The numeric address of this end, without the port. Empty when not connected.
  std::string localAddress() const;

  /// The numeric address of the other end. Empty when not connected.
  std::string peerAddress() const;

  /// Send or receive all bytes. Return false when the other end closed, an error happened or the
  /// deadline passed.
  bool sendAll(std::string_view bytes, core::Deadline deadline) const;
  bool receiveAll(char *bytes, std::size_t size, core::Deadline deadline) const;

private:
  int fd = -1;
};

/// Whether a numeric address belongs to the loopback interface.
bool isLoopback(const std::string &address);

/// A list of byte strings. On the wire: u32 size of all that follows, then u32 size and bytes of
/// each string, little endian. A frame has at most 16 MiB.
using Frame = std::vector<std::string>;
inline constexpr std::size_t maxFrameBytes = 16u << 20;

std::string encodeFrame(const Frame &frame);

/// Limits of a connection's first frame, which identifies the client, and of the answer. They bound
/// the memory that an unknown client can occupy.
inline constexpr std::size_t maxHelloBytes = 512, maxWelcomeBytes = 64u << 10;

enum class FrameState { complete, incomplete, malformed };
/// Removes the first frame from the buffer. A frame of more than `maxBytes` is malformed.
FrameState decodeFrame(std::string &buffer, Frame &frame, std::size_t maxBytes = maxFrameBytes);

bool sendFrame(const Socket &socket, const Frame &frame, core::Deadline deadline);
bool receiveFrame(const Socket &socket, Frame &frame, core::Deadline deadline,
                  std::size_t maxBytes = maxFrameBytes);

} // namespace syncline::transport
