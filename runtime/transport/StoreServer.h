// The meeting point of a run: a key-value store and a watch over its ranks, served by rank 0.
#pragma once

#include "runtime/core/RankNames.h"
#include "runtime/transport/Newcomers.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

namespace syncline {

/// Serves one run of `size` ranks on a thread of its own until destroyed.
///
/// Every rank opens two connections, first `watch`, then `store`. The first frame on each is
/// {"syncline-1", "watch" | "store", rank, size}, answered {"ok"}, {"error", message} or
/// {"lost", who}. Whoever says something else, or says {"syncline-1", ..} of a run of another size
/// or of a rank that is there already, is turned away, and the run goes on without it: it may be a
/// stray process of another run. Were it one of this run's, its rank will be missed in time, and
/// the message names who was turned away.
///
/// store, one answer a request:
///   {"set", key, value}                 {"ok"}
///   {"get", key, ms}                    {"ok", value} as soon as it is set | {"late"}
///   {"gather", key, value, ms}          {"ok", value of rank 0, 1, ..} as soon as every rank has
///                                       sent its own | {"late", names of the missing ranks,
///                                       who was turned away and why}
///   {"gather-workers", key, value, ms}  the same among the workers
///   any                                 {"lost", who} once somebody is lost
/// watch:
///   server: {"ping"}                    rank: {"pong", rank it waits for, or -1}
///   rank: {"report", peer, message}     it waited for peer in vain
///   rank: {"failed", message}           it ends with this error
///   rank: {"bye"}                       it is done; closing is no failure from now on
///   server: {"verdict", rank, "ended" | "stuck" | "failed", message}
///
/// Whose fault a failure is: a rank whose watch connection closes without goodbye has ended. When a
/// rank reports a late peer, all are asked whom they wait for; following the answers from the
/// reporter ends at a rank that does not answer (stuck), has left (ended) or waits for nobody
/// (busy).
class StoreServer {
public:
  /// Seconds that ranks have to answer a ping.
  static constexpr double grace = 1.0;

  /// `listener` listens already.
  StoreServer(Socket listener, int size, const RankNames &names = {});
  ~StoreServer();
  StoreServer(const StoreServer &) = delete;

  int port() const { return newcomers.port(); }
  /// This host's address as the first rank of another host reached it; empty when all are local.
  std::string reachableAddress() const;

private:
  struct Waiter {
    std::string request, key;
    Deadline deadline;
  };
  struct Peer {
    Socket socket;
    std::string input;
    int rank = -1;
    bool watch = false, done = false, closed = false;
    std::optional<Waiter> waiter = {};
  };

  void serve();
  void greet(Newcomers::Arrival arrival);
  std::string reasonToTurnAway(const Frame &hello) const;
  void learnAddress(const Socket &socket);
  void readPeer(Peer &peer);
  void handleInput(Peer &peer);
  void handleStore(Peer &peer, const Frame &frame);
  void handleWatch(Peer &peer, const Frame &frame);
  void answerWaiters();
  bool answer(const Peer &peer, bool late, Frame &reply) const;
  std::string whoWasTurnedAway() const;
  void lost(const Peer &peer);
  void investigate(int reporter, int peer);
  void decide();
  void announce(int culprit, const std::string &kind, const std::string &message);
  void send(Peer &peer, const Frame &frame);
  Deadline nextTimer() const;

  /// As many are remembered by name as a message can hold.
  static constexpr std::size_t maxTurnedAway = 4;

  Newcomers newcomers;
  const int size;
  const RankNames names;
  std::vector<std::unique_ptr<Peer>> peers;
  std::map<std::string, std::string> values;
  std::map<std::string, std::map<int, std::string>> gathered;
  Frame end;                           ///< what every request is answered once somebody is lost
  std::vector<std::string> turnedAway; ///< why, each once
  std::set<int> departed;              ///< ranks that said goodbye

  struct Investigation {
    int reporter, peer;
    Deadline end;
    std::map<int, int> waitsFor; ///< of the ranks that answered
  };
  std::optional<Investigation> investigation;
  bool decided = false;

  mutable std::mutex addressMutex;
  std::string address;

  std::atomic<bool> stop{false};
  Socket wakeRead, wakeWrite;
  std::thread thread;
};

} // namespace syncline
