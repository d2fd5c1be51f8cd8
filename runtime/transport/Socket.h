// TCP sockets with deadlines, and the frames that the rendezvous protocol is made of.
#pragma once

#include "runtime/core/Deadline.h"
#include "syncline/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace syncline {

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

  /// Listens on every address of this host; port 0 picks a free one.
  static Result<Socket> listen(int port);
  /// Tries again until somebody listens there or the deadline passes.
  static Result<Socket> connect(const std::string &host, int port, Deadline deadline);

  /// Of one that listens: who connects next; nobody has when it is not open.
  Socket accept() const;
  /// Whether something is there by the deadline: bytes, the other end's close, somebody who
  /// connects.
  bool hasInput(Deadline deadline) const;

  int localPort() const;
  /// Numeric address of this end, without port; empty when not connected.
  std::string localAddress() const;

  /// Both return false when the other end closed, an error happened or the deadline passed.
  bool sendAll(std::string_view bytes, Deadline deadline) const;
  bool receiveAll(char *bytes, std::size_t size, Deadline deadline) const;

private:
  int fd = -1;
};

/// Whether a numeric address is one of the loopback interface.
bool isLoopback(const std::string &address);

/// A list of byte strings on the wire: u32 size of all that follows, then u32 size and bytes of
/// each, little endian. Frames are at most 16 MiB.
using Frame = std::vector<std::string>;
inline constexpr std::size_t maxFrameBytes = 16u << 20;

std::string encodeFrame(const Frame &frame);

enum class FrameState { complete, incomplete, malformed };
/// Takes the first frame off the buffer.
FrameState decodeFrame(std::string &buffer, Frame &frame);

bool sendFrame(const Socket &socket, const Frame &frame, Deadline deadline);
bool receiveFrame(const Socket &socket, Frame &frame, Deadline deadline);

} // namespace syncline
