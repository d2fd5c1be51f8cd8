// A rank's connections to the StoreServer: the key-value store and the watch over the other ranks.
#pragma once

#include "runtime/core/RankNames.h"
#include "runtime/transport/Socket.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace syncline::transport {

/// What the processes of one run have in common.
struct RunKey {
  std::string job = {};    ///< equal for the ranks of a run, and for no other; may be empty
  std::string secret = {}; ///< what only ranks of this run know; empty where they share nothing

  /// The first word of every connection. Only ranks that know the secret can say it.
  std::string protocol() const { return secret.empty() ? "syncline-2" : "syncline-2 " + secret; }
};

/// Sends requests to the StoreServer, one at a time; not thread-safe.
class Store {
public:
  /// Connects to rank 0 and repeats attempts until the deadline. Rank 0 of another job
  /// refuses; that of a run with another secret closes the connection.
  static Result<Store> connect(const std::string &host, int port, int rank, int size,
                               core::Deadline deadline, const RunKey &key = {});

  /// Sets a key. Returns within `seconds` even if rank 0 does not answer.
  Status set(const std::string &key, const std::string &value, double seconds = 20);
  /// Waits until the key is set; returns nothing when it was not set by the deadline. Rank 0 has
  /// `grace` more seconds to answer.
  Result<std::optional<std::string>> get(const std::string &key, core::Deadline deadline,
                                         double grace = 10);
  /// Waits until every rank, or every worker, has sent its value for the key, and returns the
  /// values by rank. Errors name the late ranks.
  Result<std::vector<std::string>> gather(const std::string &key, const std::string &value,
                                          core::Deadline deadline, bool workersOnly = false);

  /// Sets the phase that errors name: "during evaluation". The first phase is "during start-up".
  void enter(std::string when) { phase = std::move(when); }

  /// The local address of the connection to rank 0.
  std::string localAddress() const { return socket.localAddress(); }
  /// The address of the connection's other end.
  std::string peerAddress() const { return socket.peerAddress(); }

private:
  explicit Store(Socket socket) : socket(std::move(socket)) {}
  /// Sends a request and waits for the answer until the deadline.
  Result<Frame> request(const Frame &frame, core::Deadline deadline);
  Socket socket;
  std::string phase = "during start-up";
};

/// The rank at fault for the end of a run, and the reason.
struct Verdict {
  int rank = -1;
  std::string kind;    ///< "ended", "stuck", "busy" or "failed"
  std::string message; ///< the rank's own message when its kind is "failed"

  /// The verdict as text: "rank 3 (its process ended)".
  std::string describe(const core::RankNames &names = {}) const;
};

/// Learns when another rank fails, and tells the others when this rank fails. Thread-safe.
class Watch {
public:
  static Result<std::unique_ptr<Watch>> connect(const std::string &host, int port, int rank,
                                                int size, core::Deadline deadline,
                                                const RunKey &key = {});
  /// Signs off, so that closing the connection does not count as a failure.
  ~Watch();

  /// Reports, while it lives, that this rank waits for a peer. Any number may live at once. `watch`
  /// may be null.
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
    Waiting *earlier = nullptr, *later = nullptr; ///< neighbours in the watch's list
  };

  /// The ranks for which this rank waits now, in ascending order.
  std::vector<int> waitsFor() const;

  std::optional<Verdict> verdict() const;
  /// A thread of the watch calls `call` when it learns of the verdict, at once where it knows one
  /// already. When this returns, no earlier call is under way. An empty one is not called.
  void whenConcluded(std::function<void()> call);
  /// The ranks that are lost and without which the run goes on.
  std::vector<Verdict> lost() const;
  /// Reports that `peer` is late or gone, and returns the verdict, which may be known already.
  /// Where the run goes on without a rank, this is the one lost last. Takes a few seconds at most.
  Verdict report(int peer, const std::string &message);
  /// As report(), returned as a peerLost error of rank `own`.
  Status blame(int own, int peer, const std::string &message, const core::RankNames &names);
  /// Asks rank 0 to stop the run as by this signal.
  void askToStop(int signal);
  /// Reports that this rank ends with an error.
  void fail(const std::string &message);
  /// Signs off without closing the connection, for a process that ends at once.
  void depart();

private:
  Watch(Socket socket, int rank);
  /// Sends a frame to the server. Any thread may call it.
  void tell(const Frame &frame);
  void listen();
  void listenGuarded();
  void conclude(Verdict v);
  void goOnWithout(Verdict v);
  int waitsMostFor() const;

  Socket socket;
  const int rank;
  // An intrusive list of the waits. Every message has a wait, so creating one must not allocate.
  mutable std::mutex waitsMutex;
  Waiting *firstWait = nullptr, *lastWait = nullptr;
  mutable std::mutex mutex;
  std::mutex sendMutex;
  std::condition_variable changed;
  std::mutex callMutex;
  std::function<void()> concluded;
  std::optional<Verdict> found;
  std::vector<Verdict> gone; ///< each rank once
  std::int64_t told = 0;     ///< messages about ranks that are gone
  std::atomic<bool> leaving{false};
  std::thread thread;
};

} // namespace syncline::transport
