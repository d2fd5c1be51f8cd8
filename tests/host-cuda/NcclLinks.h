// Connections between the ranks of a communicator on the host: sockets of this machine, between
// processes and between threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace syncline::hostcuda {

/// Owns a file descriptor.
class Socket {
public:
  explicit Socket(int fd = -1) : fd(fd) {}
  Socket(Socket &&other) noexcept : fd(other.release()) {}
  Socket &operator=(Socket &&other) noexcept;
  ~Socket();
  int get() const { return fd; }
  int release() { return std::exchange(fd, -1); }

private:
  int fd;
};

/// Where the ranks of a communicator meet; what a ncclUniqueId holds.
struct Meeting {
  std::uint64_t token = 0; ///< tells this communicator's connections from all others
  std::uint16_t port = 0;
};

/// What a rank says of itself when it comes.
struct Arrival {
  std::uint64_t token;
  std::int32_t rank, ranks;
  std::uint16_t port; ///< where those of a higher rank find it
  char device[64];    ///< no two ranks have the same
};

/// Opens a meeting in this process; a thread of its own receives the ranks. Throws
/// std::runtime_error where there are no sockets.
Meeting openMeeting();

/// How something between ranks ended.
enum class Outcome { done, lost, aborted };

struct Incoming {
  std::span<std::byte> bytes;
  std::function<void()> arrived = {}; ///< called before what comes behind it is received
};

/// What goes to and comes from one rank, in order. Empty for oneself.
struct Traffic {
  std::vector<std::span<const std::byte>> out;
  std::vector<Incoming> in;
};

/// One rank's connections to all others. One thread uses it at a time, but for `aborted`.
class Links {
public:
  /// All ranks together. Throws std::runtime_error that says why not; returns at once, not
  /// connected, when `aborted` becomes true.
  void connect(const Meeting &meeting, int rank, int ranks, const std::string &device);
  /// Sends and receives all of it, from and to all ranks at once; `traffic` is by rank. Lost names
  /// the rank in `lostRank`. Passes on what `arrived` throws.
  Outcome exchange(std::vector<Traffic> traffic);
  void close() { sockets.clear(); }

  std::atomic<bool> aborted = false;
  int lostRank = -1;

private:
  std::vector<Socket> sockets; ///< by rank
};

} // namespace syncline::hostcuda
