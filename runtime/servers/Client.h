// A worker's side of the protocol: blocking requests to all shards.
#pragma once

#include "runtime/core/Peers.h"
#include "runtime/servers/Connections.h"
#include "runtime/servers/RequestLog.h"

#include <deque>
#include <span>

namespace syncline::servers {

/// What a worker is told when it may begin a step.
struct Grant {
  std::int64_t least = 0; ///< the least clock of all workers
  std::int64_t lead = 0;  ///< the distance of the worker's clock to it
  int signal = 0;         ///< the signal that stops the run; 0 for none
};

/// One thread makes the calls about values, in the order of the worker's steps, and one thread
/// those about ticks.
///
/// A request whose answer is held back waits as long as the worker that it waits for goes on. One
/// that stays at its clock for the peers' time limit is reported. Errors of all calls: peerLost,
/// naming the rank at fault; internal where a server breaks the protocol.
class Client {
public:
  /// `connections` and `peers` outlive the client. The spans of its calls hold all weights.
  Client(Connections &connections, const Roles &roles, core::Peers &peers)
      : connections(connections), roles(roles), peers(peers) {}

  /// Sets the first values on all servers. The first worker calls it, before any other request.
  Status initialise(std::span<const float> values);
  /// Adds an update of the step that brings the worker's clock to `clock`.
  Status push(std::span<const float> update, std::int64_t clock);
  /// Reads the values at clock `clock`, once the servers' clocks are all at least `need`. Returns
  /// the least clock that they contain.
  Result<std::int64_t> read(std::span<float> values, std::int64_t clock, std::int64_t need);
  /// Reads the servers' values c, which become c + factor·(own - c).
  Status elastic(std::span<const float> own, std::span<float> centre, std::int64_t clock,
                 double factor);
  /// The worker pushes no more. Servers stop waiting for it.
  Status leave();

  /// Tells the keeper that `clock` steps are complete, and of a signal that stops the run.
  Status tick(std::int64_t clock, int signal);
  /// Waits for the answer to the oldest unanswered tick. Precondition: there is one.
  Result<Grant> awaitGrant();
  /// The worker makes no more steps: the keeper stops waiting for it. `signal` is what has stopped
  /// it, or 0.
  Status leaveKeeper(int signal);

  /// The times of push(), read(), elastic(), tick() and awaitGrant(). Any thread may use it.
  RequestLog &log() { return requests; }

private:
  Status sendAll(const Request &request, std::span<const float> values);
  Result<std::int64_t> receiveAll(std::span<float> values, RequestLog::Entry &entry);
  Result<Reply> reply(Connection &from, RequestLog::Entry &entry);

  Connections &connections;
  const Roles roles;
  core::Peers &peers;
  RequestLog requests;
  std::deque<std::int64_t> ticked; ///< the clocks of unanswered ticks, oldest first
};

} // namespace syncline::servers
