// Connections to a port that have not said yet who they are.
#pragma once

#include "runtime/transport/Socket.h"

#include <span>
#include <vector>

#include <poll.h>

namespace syncline {

/// Takes connections and hands on those whose first frame has come. Whoever connects may be a
/// stranger, such as a port scanner: it gets maxHelloBytes of memory and helloSeconds of time, and
/// a process that cannot take a connection (no file descriptor is left) waits before it tries
/// again. For the poll() loop of its owner; not thread-safe.
class Newcomers {
public:
  /// Seconds that a connection has to send its first frame.
  static constexpr double helloSeconds = 5;
  /// Seconds between two attempts to take connections when one has failed.
  static constexpr double pause = 0.1;

  struct Arrival {
    Socket socket;
    Frame hello;
    std::string rest; ///< bytes that came behind it
  };

  /// `listener` listens already.
  explicit Newcomers(Socket listener) : listener(std::move(listener)) {}

  int port() const { return listener.localPort(); }
  /// Appends what is to be polled.
  void addTo(std::vector<pollfd> &polled) const;
  /// When serve() is to be called at the latest.
  Deadline nextTimer() const;
  /// `polled` is what addTo() appended last, after poll().
  std::vector<Arrival> serve(std::span<const pollfd> polled);
  /// Why connections could not be taken: "Too many open files; .."; empty: all could.
  std::string trouble() const;

private:
  struct Newcomer {
    Socket socket;
    Deadline end;
    std::string input = {};
  };
  void take();
  static FrameState read(Newcomer &newcomer, Frame &hello);

  Socket listener;
  std::vector<Newcomer> waiting;
  Deadline nextTake = {}; ///< before it none is tried
  int lastError = 0;      ///< of accept()
  int silent = 0;         ///< were closed because they said nothing in time
};

} // namespace syncline
