// A rank's side of the meeting point: its key-value store and the watch over the other ranks.
#pragma once

#include "runtime/core/RankNames.h"
#include "runtime/transport/Socket.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace syncline {

/// Requests to the StoreServer, one after the other; not thread-safe.
class Store {
public:
  /// Connects to rank 0; tries until the deadline.
  static Result<Store> connect(const std::string &host, int port, int rank, int size,
                               Deadline deadline);

  /// Ends within `seconds`, whether rank 0 answers or not.
  Status set(const std::string &key, const std::string &value, double seconds = 20);
  /// Waits until the key is set; nothing when it was not by the deadline. Rank 0 has `grace`
  /// seconds more to say so.
  Result<std::optional<std::string>> get(const std::string &key, Deadline deadline,
                                         double grace = 10);
  /// Waits until every rank, or every worker, has given its value for the key; returns them by
  /// rank. Late ranks are named.
  Result<std::vector<std::string>> gather(const std::string &key, const std::string &value,
                                          Deadline deadline, bool workersOnly = false);

  /// What errors say of when somebody was lost: "during evaluation"; at first "during start-up".
  void enter(std::string when) { phase = std::move(when); }

  /// This rank's address on the way to rank 0.
  std::string localAddress() const { return socket.localAddress(); }

private:
  explicit Store(Socket socket) : socket(std::move(socket)) {}
  /// The deadline is that of the answer.
  Result<Frame> request(const Frame &frame, Deadline deadline);
  Socket socket;
  std::string phase = "during start-up";
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

  /// Says, while it lives, that this rank waits for a peer; any number at once. `watch` may be
  /// null.
  class Waiting {
  public:
    Waiting(Watch *watch, int peer, bool sends);
    ~Waiting();
    Waiting(const Waiting &) = delete;

  private:
    friend class Watch;
    Watch *watch;
    int peer;
    bool sends;
    Waiting *earlier = nullptr, *later = nullptr; ///< in the watch's list
  };

  /// Whom this rank waits for now, in ascending order.
  std::vector<int> waitsFor() const;

  std::optional<Verdict> verdict() const;
  /// Says that `peer` is late or gone and returns whose fault it is, which may be known
  /// already; a few seconds at most.
  Verdict report(int peer, const std::string &message);
  /// The same as peerLost, in the words of rank `own`.
  Status blame(int own, int peer, const std::string &message, const RankNames &names);
  /// Says that this rank ends with an error.
  void fail(const std::string &message);
  /// Says goodbye without closing, for a process that ends at once.
  void depart();

private:
  explicit Watch(Socket socket);
  void listen();
  void conclude(Verdict v);
  int waitsMostFor() const;

  Socket socket;
  // A list through the waits themselves: every message has one, and none is to allocate.
  mutable std::mutex waitsMutex;
  Waiting *firstWait = nullptr, *lastWait = nullptr;
  mutable std::mutex mutex;
  std::mutex sendMutex;
  std::condition_variable changed;
  std::optional<Verdict> found;
  std::atomic<bool> leaving{false};
  std::thread thread;
};

} // namespace syncline
