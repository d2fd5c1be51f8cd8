// A plan whose weights travel by servers: what a worker and a server make of it.
#pragma once

#include "runtime/core/Exchanges.h"
#include "runtime/launch/Identity.h"
#include "runtime/run/options/Options.h"
#include "runtime/run/plan/Plan.h"
#include "runtime/servers/Client.h"
#include "runtime/servers/ShardServer.h"
#include "runtime/transport/Group.h"

#include <memory>
#include <thread>

namespace syncline::run {

/// The workers and servers of a plan, whose parts are counted from the first byte that travels.
servers::Roles rolesOf(const Plan &plan);
/// The server with the shard of `rank`. `lost` tells which ranks are lost without ending the run.
servers::ShardServer::Options shardOptions(const Plan &plan, int rank,
                                           std::function<std::vector<int>()> lost);

/// A worker's connections and, without dedicated servers, the shard that its process holds.
class ServedWeights {
public:
  struct Run {
    const Options &options;
    const Plan &plan;
    transport::Group &group;
    double timeoutSeconds;
  };

  /// Connects to the servers. All ranks call it together. What `run` refers to outlives the result.
  /// Errors: peerLost.
  static Result<std::unique_ptr<ServedWeights>> open(const Run &run);
  /// Waits for the threads of the shard, which end when all workers have ended their training.
  ~ServedWeights();

  /// The worker, which this object outlives. `weights` is the space of parameters, which have their
  /// initial values.
  std::unique_ptr<core::Exchanges> worker(std::span<float> weights);
  /// What the shard that this process holds does; null without one.
  servers::ServiceLog *services() { return shard ? &shard->log() : nullptr; }

private:
  explicit ServedWeights(const Run &run) : run(run) {}
  void serve();
  void startThread(std::function<Status()> work);

  const Run run;
  std::unique_ptr<core::Peers> peers;
  servers::Connections connections;
  std::optional<servers::Client> client;
  std::optional<servers::ShardServer> shard;
  std::vector<std::thread> threads;
};

} // namespace syncline::run
