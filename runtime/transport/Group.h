// Joining a run: finding rank 0, agreeing that all run the same thing, connecting, leaving
// together.
#pragma once

#include "runtime/core/RankNames.h"
#include "runtime/transport/GlooTransport.h"
#include "runtime/transport/Store.h"
#include "runtime/transport/StoreServer.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace syncline {

struct GroupOptions {
  int rank = 0, size = 1;
  int workers = 0;                   ///< the ranks behind these are servers; 0: there are none
  std::string address = "127.0.0.1"; ///< host of rank 0
  int port = 29400;                  ///< where rank 0 serves
  int listener = -1;                 ///< rank 0: a socket that listens already; taken over
  std::string interface;             ///< network interface for gradients; empty: the one that
                                     ///< routes to rank 0
  double startSeconds = 60;          ///< how long to wait for the others to start
};

/// A fact that must be the same on all ranks, such as the plan's hash.
struct SharedFact {
  std::string what; ///< "plan", for the message
  std::string value;
};

/// Who takes part in an exchange.
enum class Participants {
  all,
  workers, ///< servers neither call nor are waited for
};

/// The ranks of a run, from joining to leaving.
class Group {
public:
  static Result<std::unique_ptr<Group>> join(const GroupOptions &options);
  /// Leaves without waiting for the others; after an error, that is how they learn of it.
  ~Group();

  /// Waits for all who take part and compares. Errors: peerLost, the same message on every rank,
  /// naming the ranks that differ; or the ranks that did not start in time.
  Status agree(const std::vector<SharedFact> &facts, Participants who = Participants::all);
  /// Prepares the network; once, after agree(). A link that stands still for `timeoutSeconds` while
  /// somebody waits for it ends the run.
  Status connect(double timeoutSeconds);
  int rank() const { return options.rank; }
  /// Rank 0's host, as this rank finds it.
  const std::string &address() const { return options.address; }
  /// Ranks that compute.
  int workers() const { return names.workers; }
  /// Null until connected.
  Transport *transport() const { return connected.get(); }
  /// Exchanges small values, one a rank; returns them by rank. For rare use: it goes through rank
  /// 0.
  Result<std::vector<std::string>> gather(const std::string &key, const std::string &value,
                                          double seconds, Participants who = Participants::all);
  /// Leaves a value for ask(), from one rank. Errors: peerLost, naming rank 0.
  Status tell(const std::string &key, const std::string &value, double seconds);
  /// What was left so far, if anything, while nobody is known to be lost and rank 0 answers within
  /// `seconds`; else peerLost, naming who is. Not at the same time as the other methods, nor as
  /// links are opened.
  Result<std::optional<std::string>> ask(const std::string &key, double seconds = 20);
  /// Says goodbye, for a process that ends without destroying its group.
  void depart();
  /// Ok while nobody is known to be lost, without asking rank 0; else as ask(). At any time, from
  /// any thread.
  Status verdict() const;
  /// `peer` has been late: says so and tells whose fault it is, as verdict(). A few seconds at
  /// most.
  Status blame(int peer, const std::string &message) const;
  /// For saying whom this rank waits for.
  Watch *watcher() const { return watch.get(); }
  /// "rank 1", "ranks 0, 2": whom this rank's links wait for now; empty: nobody. As verdict().
  std::string waitsFor() const { return names.of(watch->waitsFor()); }
  /// What errors of gather() say of when somebody was lost: "during evaluation". At first "during
  /// start-up".
  void enter(const std::string &when) { store->enter(when); }
  /// Tells the others that this rank ends with an error, unless they know better. After this the
  /// process may end at once; rank 0 lets the others hear of it first.
  void abandon(const Status &error);
  /// Waits until all ranks are done, so that nobody's last bytes are lost.
  Status leave(double seconds);

private:
  explicit Group(const GroupOptions &options)
      : options(options), names{options.workers > 0 ? options.workers : options.size} {}
  GroupOptions options;
  RankNames names;
  // Destroyed from the last: connections before the server they lead to.
  std::unique_ptr<StoreServer> server;
  std::unique_ptr<Store> store;
  std::unique_ptr<Watch> watch;
  std::unique_ptr<Transport> connected;
};

} // namespace syncline
