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

  /// Listens on a numeric address of this host, or on all of them; port 0 picks a free one.
  static Result<Socket> listen(int port, const std::string &address = {});
  /// Tries again until somebody listens there or the deadline passes. Errors: badInput for a host
  /// that nobody knows or where this process has no file descriptor left, else peerLost, with the
  /// system's reason.
  static Result<Socket> connect(const std::string &host, int port, Deadline deadline);

  /// Of one that listens: who connects next. Not open, and errno says why, where nobody has or this
  /// process can take no more.
  Socket accept() const;
  /// Whether something is there by the deadline: bytes, the other end's close, somebody who
  /// connects.
  bool hasInput(Deadline deadline) const;

  /// Makes it blocking; a send or a receive that stands still for `seconds` then fails.
  bool limitWaits(double seconds) const;

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

/// The first frame of a connection, which says who is there, and its answer are shorter: nobody
/// makes this process keep much before it is known who it is.
inline constexpr std::size_t maxHelloBytes = 512, maxWelcomeBytes = 64u << 10;

enum class FrameState { complete, incomplete, malformed };
/// Takes the first frame off the buffer; one of more than `most` bytes is malformed.
FrameState decodeFrame(std::string &buffer, Frame &frame, std::size_t maxBytes = maxFrameBytes);

bool sendFrame(const Socket &socket, const Frame &frame, Deadline deadline);
bool receiveFrame(const Socket &socket, Frame &frame, Deadline deadline,
                  std::size_t maxBytes = maxFrameBytes);

} // namespace syncline
