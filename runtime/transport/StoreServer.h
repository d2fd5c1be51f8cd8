// The rendezvous server of a run on rank 0: a key-value store and a watch over the ranks.
// Equivalent: PyTorch's TCPStore.
#pragma once

#include "runtime/core/RankNames.h"
#include "runtime/transport/Newcomers.h"
#include "runtime/transport/Store.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

namespace syncline::transport {

/// Serves one run of `size` ranks on its own thread until destroyed.
///
/// Every rank opens two connections, first `watch`, then `store`. The first frame on each is
/// {RunKey::protocol(), "watch" | "store", rank, size, job}, answered {"ok"}, {"error", message} or
/// {"lost", who}. A connection with another first frame, job or size, or with a rank that is
/// connected already or was lost is refused, because it may belong to a stray process of another
/// run; the run goes on. If the process did belong to this run, its rank will be missed in time,
/// and the message names the refused connections. Until all ranks have come, what a connection has
/// set or given is forgotten when it closes: it may have been a stranger's.
///
/// store, one answer a request:
///   {"set", key, value}                 {"ok"}
///   {"get", key, ms}                    {"ok", value} as soon as it is set | {"late"}
///   {"gather", key, value, ms}          {"ok", value of rank 0, 1, ..} as soon as every rank has
///                                       sent its own | {"late", names of the missing ranks,
///                                       who was turned away and why}
///   {"gather-workers", key, value, ms}  as "gather", among the workers
///   any                                 {"lost", who} once a rank is lost
/// watch:
///   server: {"ping"}                    rank: {"pong", rank it waits for, or -1}
///   rank: {"report", peer, message}     it waited for peer in vain
///   rank: {"failed", message}           it ends with this error
///   rank: {"stop", signal}              it asks rank 0 to stop the run
///   rank: {"bye"}                       it signs off; closing is no failure from now on
///   server: {"verdict", rank, "ended" | "stuck" | "failed", message}
///   server: {"gone", rank, as with "verdict"}  the run goes on without the rank, which itself gets
///                                              a verdict
///
/// The rank at fault: a rank whose watch connection closes without "bye" has ended. When a rank
/// reports a late peer, the server asks all ranks for which rank they wait. Following the answers
/// from the reporting rank leads to a rank that does not answer (stuck), has left (ended) or waits
/// for no rank (busy).
class StoreServer {
public:
  /// Seconds within which a rank must answer a ping.
  static constexpr double grace = 1.0;

  /// `listener` is listening. Connections without the key's secret are closed without a word.
  StoreServer(Socket listener, int size, const core::RankNames &names = {}, RunKey key = {});
  ~StoreServer();
  StoreServer(const StoreServer &) = delete;

  int port() const { return newcomers.port(); }
  /// From now on the run goes on without these ranks when they end or get stuck: the others are
  /// told, and gather without them. A spared rank that fails with a message still ends the run.
  void spare(const std::set<int> &ranks);
  /// The signal by which a rank first asked to stop the run, or 0. Any thread may call it.
  int stopAsked() const { return asked; }
  /// This host's address as the first rank of another host reached it. Empty when all ranks
  /// are local.
  std::string reachableAddress() const;

private:
  struct Waiter {
    std::string request, key;
    core::Deadline deadline;
  };
  struct Peer {
    Socket socket;
    std::string input;
    int rank = -1;
    bool watch = false, done = false, closed = false;
    std::optional<Waiter> waiter = {};
    std::set<std::string> keys = {}; ///< what it has set or given before the run was complete
  };

  void serve();
  bool serveOnce();
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
  void forget(const Peer &peer);
  void investigate(int reporter, int peer);
  void decide();
  void announce(int culprit, const std::string &kind, const std::string &message);
  bool goesOnWithout(int culprit, const std::string &kind);
  void send(Peer &peer, const Frame &frame);
  core::Deadline nextTimer() const;

  /// The number of refused connections that are remembered for messages.
  static constexpr std::size_t maxTurnedAway = 4;

  Newcomers newcomers;
  const int size;
  const core::RankNames names;
  const RunKey key;
  bool isComplete = false; ///< all ranks have come; no stranger can take a rank's place any more
  std::vector<std::unique_ptr<Peer>> peers;
  std::map<std::string, std::string> values;
  std::map<std::string, int> owners; ///< the rank that has set a value
  std::map<std::string, std::map<int, std::string>> gathered;
  Frame end;                           ///< the answer to every request once a rank is lost
  std::vector<std::string> turnedAway; ///< reasons for refusing connections, each once
  std::set<int> departed;              ///< ranks that signed off

  struct Investigation {
    int reporter, peer;
    core::Deadline end;
    std::map<int, int> waitsFor; ///< answers to the last ping, by rank
  };
  std::optional<Investigation> investigation;
  bool decided = false;

  std::mutex sparedMutex;
  std::set<int> spared;
  std::map<int, std::string> gone; ///< lost ranks without which the run goes on, and what kind
                                   ///< of verdict they got

  mutable std::mutex addressMutex;
  std::string address;

  std::atomic<int> asked{0};
  std::atomic<bool> stop{false};
  /// The thread polls the first end and is woken when the second is closed.
  std::pair<Socket, Socket> wake = Socket::pair();
  std::thread thread;
};

} // namespace syncline::transport
