// Connections to a port that have not identified themselves yet.
#pragma once

#include "runtime/transport/Socket.h"

#include <span>
#include <vector>

#include <poll.h>

namespace syncline::transport {

/// Accepts connections and hands on those whose first frame has arrived. A client may be unknown,
/// such as a port scanner, so each connection gets only maxHelloBytes of memory and helloSeconds of
/// time. When the process cannot accept a connection because no file descriptor is free, it waits
/// before it tries again. Used by the poll() loop of its owner; not thread-safe.
class Newcomers {
public:
  /// Seconds within which a connection must send its first frame.
  static constexpr double helloSeconds = 5;
  /// Seconds until the next attempt after a failed accept().
  static constexpr double pause = 0.1;

  struct Arrival {
    Socket socket;
    Frame hello;
    std::string rest; ///< bytes that followed the frame
  };

  /// `listener` is listening.
  explicit Newcomers(Socket listener) : listener(std::move(listener)) {}

  int port() const { return listener.localPort(); }
  /// Appends the descriptors that poll() must watch.
  void addTo(std::vector<pollfd> &polled) const;
  /// The time at which serve() must be called at the latest.
  core::Deadline nextTimer() const;
  /// Handles the results of poll() for the descriptors that addTo() appended last.
  std::vector<Arrival> serve(std::span<const pollfd> polled);
  /// Why connections could not be accepted: "Too many open files; ..". Empty if all were accepted.
  std::string trouble() const;

private:
  struct Newcomer {
    Socket socket;
    core::Deadline end;
    std::string input = {};
  };
  void take();
  static FrameState read(Newcomer &newcomer, Frame &hello);

  Socket listener;
  std::vector<Newcomer> waiting;
  core::Deadline nextTake = {}; ///< no accept() before this time
  int lastError = 0;            ///< of accept()
  int silent = 0;               ///< number of connections closed because they sent nothing in time
};

} // namespace syncline::transport
