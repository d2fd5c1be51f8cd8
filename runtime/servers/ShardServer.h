// A server: one shard and, on the first server, the clocks of the run.
#pragma once

#include "runtime/core/Deadline.h"
#include "runtime/servers/ClockKeeper.h"
#include "runtime/servers/Connections.h"
#include "runtime/servers/ServiceLog.h"
#include "runtime/servers/Shard.h"

#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace syncline::servers {

/// The clocks that a worker's requests of one kind have: `first`, and then each time `by` more.
struct Pace {
  std::int64_t first = 1, by = 1;
};

/// Life: the constructor; then one thread for each worker calls serve() and, where hasKeeper(),
/// another one calls keep(). Each returns when its worker has left.
class ShardServer {
public:
  struct Options {
    std::size_t bytes = 0; ///< of this shard
    Shard::Options shard;
    ClockKeeper keeper{Bounds::asp(), 1};
    Pace values, ticks; ///< of push and elastic, and of tick
    /// The workers that are lost, without which the others go on.
    std::function<std::vector<int>()> lost = [] { return std::vector<int>(); };
  };

  /// `connections` outlives the server, which uses the parts `workers` and `ticks`.
  ShardServer(const Options &options, Connections &connections);

  int workers() const { return static_cast<int>(connections.workers.size()); }
  bool hasKeeper() const { return !connections.ticks.empty(); }
  /// Serves a worker's values until it leaves or is lost. Errors: peerLost; badInput, naming the
  /// worker, for a request that breaks the protocol: of another kind or clock, another worker's
  /// first values, or a factor that differs from the other workers'.
  Status serve(int worker);
  /// Answers a worker's ticks until it leaves or is lost. Errors: as serve().
  Status keep(int worker);
  /// Whether all workers have left or are lost. Threads that serve lost workers may still wait
  /// for them.
  bool isDone();
  /// Returns true once isDone(). `meanwhile` is called every second; where it returns false the
  /// wait ends, with false.
  bool waitUntilDone(const std::function<bool()> &meanwhile);
  /// The signal by which a worker stopped the run; 0 for none.
  int stopSignal();
  /// What the server does, once it has been told to start.
  ServiceLog &log() { return services; }

private:
  bool isLost(int worker);
  Status check(int worker, const Request &request);
  Status checkFactor(int worker, double factor);
  void forgetLost();
  Status answer(int worker, const Request &request, Connection &at, std::vector<float> &values,
                std::vector<float> &reply);
  Status deliver(int worker, const Request &request, Connection &at, const Shard::Copied &copied,
                 const std::vector<float> &reply);
  /// Notes a service for the request that ends now.
  void note(Service::Kind kind, int worker, const Request &request, core::Clock::time_point begin,
            core::Clock::time_point end = core::Clock::now()) {
    services.add({kind, worker, request.clock, begin, end});
  }
  Status tick(int worker, const Request &request, Connection &at);

  const std::function<std::vector<int>()> lost;
  const Pace valuePace, tickPace;
  std::vector<std::int64_t> valueClocks, tickClocks; ///< of each worker's last requests
  Connections &connections;
  Shard shard;
  ServiceLog services;
  Monitor monitor; ///< guards the members below
  ClockKeeper keeper;
  const core::Clock::time_point began = core::Clock::now();
  int signal = 0;
  std::optional<std::pair<int, double>> factor; ///< the first one, and whose it was
  std::set<int> finished;                       ///< workers that have read the last values
};

} // namespace syncline::servers
