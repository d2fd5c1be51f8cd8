// TCP connections between two ranks of a run. Strangers who connect to the same port do not
// disturb.
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

namespace syncline {

/// How long to wait for the other rank.
struct ConnectLimit {
  Deadline deadline;
  /// Whether to stop before: somebody is lost. Asked every tenth of a second, from any thread.
  std::function<bool()> isOver;

  bool hasPassed() const { return Clock::now() >= deadline || isOver(); }
};

/// Where other ranks connect to, on a thread of its own until destroyed. place() holds a secret,
/// which travels through the store; the first frame on a connection is {"syncline-link", secret,
/// name}, answered {"ok"}. A connection that says something else is closed, and the next one is
/// taken. Thread-safe.
class RankListener {
public:
  /// On a numeric address of this host; empty: on all of them. Errors: badInput.
  static Result<std::unique_ptr<RankListener>> open(const std::string &address);
  ~RankListener();
  RankListener(const RankListener &) = delete;

  /// For connectToRank(), without this host's address, which depends on who asks.
  std::string place() const;
  /// The connection of that name, which nobody asks for twice; nothing when it did not come.
  std::optional<Socket> take(const std::string &name, const ConnectLimit &limit);
  /// Why connections could not be accepted; empty: all could.
  std::string trouble() const;

private:
  RankListener(Socket listener, std::string secret);
  void serve();

  Newcomers newcomers;
  const std::string secret;
  const int port;
  mutable std::mutex mutex;
  std::condition_variable arrived;
  std::map<std::string, Socket> connections; ///< by name
  std::string problem;                       ///< of newcomers

  std::atomic<bool> stop{false};
  Socket wakeRead, wakeWrite;
  std::thread thread;
};

/// Connects to the RankListener at `place` of a host; tries again until it answers. Errors: as
/// Socket::connect(), of the last attempt.
Result<Socket> connectToRank(const std::string &host, const std::string &place,
                             const std::string &name, const ConnectLimit &limit);

} // namespace syncline
