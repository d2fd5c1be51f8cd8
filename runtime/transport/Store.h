// A rank's side of the meeting point: its key-value store and the watch over the other ranks.
#pragma once

#include "runtime/transport/RankNames.h"
#include "runtime/transport/Socket.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace syncline {

/// Requests to the StoreServer, one after the other; not thread-safe.
class Store {
public:
  /// Connects to rank 0; tries until the deadline.
  static Result<Store> connect(const std::string &host, int port, int rank, int size,
                               Deadline deadline);

  Status set(const std::string &key, const std::string &value);
  /// Waits until the key is set; nothing when it was not by the deadline.
  Result<std::optional<std::string>> get(const std::string &key, Deadline deadline);
  /// Waits until every rank, or every worker, has given its value for the key; returns them by
  /// rank. Late ranks are named.
  Result<std::vector<std::string>> gather(const std::string &key, const std::string &value,
                                          Deadline deadline, bool workersOnly = false);

  /// This rank's address on the way to rank 0.
  std::string localAddress() const { return socket.localAddress(); }

private:
  explicit Store(Socket socket) : socket(std::move(socket)) {}
  Result<Frame> request(const Frame &frame, Deadline deadline);
  Socket socket;
};

/// Who is to blame for the end of a run.
struct Verdict {
  int rank = -1;
  std::string kind;    ///< "ended", "stuck", "busy" or "failed"
  std::string message; ///< the rank's own words, when it failed

  /// "rank 3 (its process ended)"
  std::string describe(const RankNames &names = {}) const;
};

/// Tells a rank when another one fails, and the others when this one does. Thread-safe.
class Watch {
public:
  static Result<std::unique_ptr<Watch>> connect(const std::string &host, int port, int rank,
                                                int size, Deadline deadline);
  /// Says goodbye: closing the connection is no failure.
  ~Watch();

  /// Says, while it lives, that this rank waits for a peer. `watch` may be null.
  class Waiting {
  public:
    Waiting(Watch *watch, int peer, bool sends);
    ~Waiting();
    Waiting(const Waiting &) = delete;

  private:
    std::atomic<int> *place;
  };

  std::optional<Verdict> verdict() const;
  /// Says that `peer` is late or gone and returns whose fault it is, which may be known
  /// already; a few seconds at most.
  Verdict report(int peer, const std::string &message);
  /// Says that this rank ends with an error.
  void fail(const std::string &message);

private:
  explicit Watch(Socket socket);
  void listen();
  void conclude(Verdict v);

  Socket socket;
  std::atomic<int> sendsTo{-1}, receivesFrom{-1}; ///< whom this rank waits for now
  mutable std::mutex mutex;
  std::mutex sendMutex;
  std::condition_variable changed;
  std::optional<Verdict> found;
  std::atomic<bool> leaving{false};
  std::thread thread;
};

} // namespace syncline
