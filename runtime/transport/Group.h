// Joining a run: finding rank 0, checking that all ranks run the same plan, connecting, and
// leaving together.
#pragma once

#include "runtime/core/RankNames.h"
#include "runtime/transport/Store.h"
#include "runtime/transport/StoreServer.h"
#include "runtime/transport/Transport.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace syncline::transport {

struct GroupOptions {
  int rank = 0, size = 1;
  int workers = 0; ///< number of workers; the ranks after them are servers; 0: no servers
  std::string address = "127.0.0.1"; ///< host of rank 0
  int port = 29400;                  ///< port on which rank 0 serves
  int listener = -1;     ///< rank 0 only: a listening socket, which the group takes over
  std::string interface; ///< network interface for gradients; empty for the one that
                         ///< routes to rank 0
  RunKey key;
  double startSeconds = 60; ///< how long to wait for the others to start
};

/// A value that must be equal on all ranks, such as the plan's hash.
struct SharedFact {
  std::string what; ///< what the value is, for the message: "plan"
  std::string value;
};

/// The ranks that take part in an exchange.
enum class Participants {
  all,
  workers, ///< servers do not call and are not waited for
};

/// The ranks of a run, from joining to leaving.
class Group {
public:
  static Result<std::unique_ptr<Group>> join(const GroupOptions &options);
  /// Leaves without waiting for the other ranks. After an error they learn of it this way.
  ~Group();

  /// Waits for all participants and compares their facts. Errors: peerLost, with the same message
  /// on every rank, naming the ranks that differ or did not start in time.
  Status agree(const std::vector<SharedFact> &facts, Participants who = Participants::all);
  /// Prepares the network. Called once, after agree(). A link without progress for `timeoutSeconds`
  /// while a rank waits for it ends the run.
  Status connect(double timeoutSeconds);
  int rank() const { return options.rank; }
  /// The address of rank 0's host, as seen by this rank.
  const std::string &address() const { return options.address; }
  /// The number of ranks that compute.
  int workers() const { return names.workers; }
  /// The transport, or null before connect().
  Transport *transport() const { return connected.get(); }
  /// Exchanges one small value from each rank and returns all values by rank. For rare use, because
  /// all values go through rank 0.
  Result<std::vector<std::string>> gather(const std::string &key, const std::string &value,
                                          double seconds, Participants who = Participants::all);
  /// Stores a value for other ranks' ask(). One rank calls it. Errors: peerLost, naming rank 0.
  Status tell(const std::string &key, const std::string &value, double seconds);
  /// Returns the value stored by tell(), or nothing if there is none yet. Errors: peerLost, naming
  /// the rank, when a rank is known to be lost or rank 0 does not answer within `seconds`. Must not
  /// run at the same time as other methods, nor while links are opened.
  Result<std::optional<std::string>> ask(const std::string &key, double seconds = 20);
  /// Asks rank 0 to stop the run as if it had received this signal. May be called at any time from
  /// any thread.
  void askToStop(int signal) { watch->askToStop(signal); }
  /// On rank 0, the signal by which another rank asked to stop the run, or 0; 0 on other ranks. May
  /// be called at any time from any thread.
  int stopAsked() const { return server ? server->stopAsked() : 0; }
  /// Signs off, for a process that ends without destroying its group.
  void depart();
  /// Ok while no rank is known to be lost; otherwise peerLost, naming the rank. Sends no message to
  /// rank 0. May be called at any time from any thread.
  Status verdict() const;
  /// On rank 0: from now on the run goes on without these ranks, should they end or get stuck.
  void spare(const std::set<int> &ranks) { server->spare(ranks); }
  /// The ranks that are lost and without which the run goes on. Any thread may call it at any time.
  std::vector<Verdict> lost() const { return watch->lost(); }
  /// Reports that `peer` is late and returns the error that names the rank at fault. Takes a few
  /// seconds at most.
  Status blame(int peer, const std::string &message) const;
  /// The watch, to which a rank reports for which ranks it waits.
  Watch *watcher() const { return watch.get(); }
  /// The ranks for which this rank's links wait now: "rank 1", "ranks 0, 2", or empty. May be
  /// called at any time from any thread.
  std::string waitsFor() const { return names.of(watch->waitsFor()); }
  /// Sets the phase that errors of gather() name: "during evaluation". The first phase is
  /// "during start-up".
  void enter(const std::string &when) { store->enter(when); }
  /// Tells the other ranks that this rank ends with an error, unless they know an earlier one.
  /// Afterwards the process may end at once; rank 0 first passes the message on.
  void abandon(const Status &error);
  /// Waits until all ranks are done, so that no rank loses its last bytes.
  Status leave(double seconds);

private:
  explicit Group(const GroupOptions &options)
      : options(options), names{options.workers > 0 ? options.workers : options.size} {}
  GroupOptions options;
  core::RankNames names;
  // Members are destroyed from the last to the first: connections before the server that they
  // lead to.
  std::unique_ptr<StoreServer> server;
  std::unique_ptr<Store> store;
  std::unique_ptr<Watch> watch;
  std::unique_ptr<Transport> connected;
};

} // namespace syncline::transport
