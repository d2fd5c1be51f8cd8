// TCP connections between two ranks of a run. Unknown clients of the same port do not disturb them.
#pragma once

#include "runtime/transport/Newcomers.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace syncline::transport {

/// A text that nobody can guess.
std::string makeSecret();

/// Limits on waiting for the other rank.
struct ConnectLimit {
  core::Deadline deadline;
  /// Whether to stop early because a rank is lost. Called every tenth of a second, from any thread.
  std::function<bool()> isOver;

  bool hasPassed() const { return core::Clock::now() >= deadline || isOver(); }
};

/// Accepts other ranks' connections on its own thread until destroyed. place() contains a secret
/// that travels through the store. The first frame of a connection is {"syncline-link", secret,
/// name}; the answer is {"ok"}. A connection with any other first frame is closed. Thread-safe.
class RankListener {
public:
  /// Listens on a numeric address of this host, or on all addresses if it is empty.
  /// Errors: badInput.
  static Result<std::unique_ptr<RankListener>> open(const std::string &address);
  ~RankListener();
  RankListener(const RankListener &) = delete;

  /// The argument for connectToRank(). It lacks this host's address, which differs
  /// between networks.
  std::string place() const;
  /// Waits for the connection of this name; nothing when it did not come in time, or when no more
  /// connections are accepted because of trouble(). Each name is taken once.
  std::optional<Socket> take(const std::string &name, const ConnectLimit &limit);
  /// Why connections could not be accepted. Empty if all were accepted.
  std::string trouble() const;

private:
  RankListener(Socket listener, std::string secret);
  void serve();
  bool serveOnce();

  Newcomers newcomers;
  const std::string secret;
  const int port;
  mutable std::mutex mutex;
  std::condition_variable arrived;
  std::map<std::string, Socket> connections; ///< by name
  std::string problem;                       ///< the trouble() of Newcomers, or of the thread
  bool isAccepting = true;

  std::atomic<bool> stop{false};
  /// The thread polls the first end and is woken when the second is closed.
  std::pair<Socket, Socket> wake = Socket::pair();
  std::thread thread;
};

/// Connects to the RankListener at `place` of a host and repeats attempts until it answers. Errors:
/// those of Socket::connect() in the last attempt.
Result<Socket> connectToRank(const std::string &host, const std::string &place,
                             const std::string &name, const ConnectLimit &limit);

} // namespace syncline::transport
