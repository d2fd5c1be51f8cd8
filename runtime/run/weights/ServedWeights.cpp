// From a plan's consistency to servers and workers.
#include "runtime/run/weights/ServedWeights.h"

#include "runtime/core/Guarded.h"
#include "runtime/launch/Joining.h"
#include "runtime/run/Participant.h"
#include "runtime/servers/AdditiveWorker.h"
#include "runtime/servers/ElasticWorker.h"
#include "runtime/transport/GroupPeers.h"

namespace syncline::run {
namespace {

using Form = PlanConsistency::Form;
using Variant = PlanConsistency::Variant;

bool isElastic(const PlanConsistency &c) { return c.form == Form::easgd; }

servers::Bounds boundsOf(const PlanConsistency &c) {
  return c.form == Form::ssp || c.form == Form::dssp ? servers::Bounds::dssp(c.lower, c.upper)
                                                     : servers::Bounds::asp();
}

/// The weights that travel.
std::span<float> served(const PlanConsistency &c, std::span<float> weights) {
  const PlanShard &first = c.shards.front(), &last = c.shards.back();
  const std::int64_t bytes = last.offset + last.extent - first.offset;
  return weights.subspan(static_cast<std::size_t>(first.offset) / sizeof(float),
                         static_cast<std::size_t>(bytes) / sizeof(float));
}

} // namespace

servers::Roles rolesOf(const Plan &plan) {
  servers::Roles roles{plan.ranks, plan.servers, {}};
  const std::int64_t first = plan.consistency.shards.front().offset;
  for (const PlanShard &shard : plan.consistency.shards) {
    const auto begin = static_cast<std::size_t>(shard.offset - first);
    roles.parts.push_back({begin, begin + static_cast<std::size_t>(shard.extent)});
  }
  return roles;
}

servers::ShardServer::Options shardOptions(const Plan &plan, int rank,
                                           std::function<std::vector<int>()> lost) {
  const PlanConsistency &c = plan.consistency;
  servers::ShardServer::Options options;
  options.bytes = rolesOf(plan).partOf(rank).size();
  options.shard.workers = plan.ranks;
  options.shard.isExact = c.form == Form::ssp && c.upper == 0;
  options.shard.hasLock = !(isElastic(c) && c.variant == Variant::hogwild);
  options.keeper = isElastic(c) && c.variant == Variant::original
                       ? servers::ClockKeeper::turns(plan.ranks)
                       : servers::ClockKeeper(boundsOf(c), plan.ranks);
  if (isElastic(c))
    options.values = {.first = 0, .by = c.period};
  if (isElastic(c) && c.variant == Variant::original) // a turn lasts until the next exchange
    options.ticks = {.first = 0, .by = c.period};
  options.lost = std::move(lost);
  return options;
}

Result<std::unique_ptr<ServedWeights>> ServedWeights::open(const Run &run) {
  std::unique_ptr<ServedWeights> made(new ServedWeights(run));
  SYNCLINE_TRY(run.group.connect(run.timeoutSeconds));
  made->peers = transport::createPeers(run.group, run.timeoutSeconds, run.options.startTimeout);
  const servers::Roles roles = rolesOf(run.plan);
  SYNCLINE_TRY_GET(connections, servers::Connections::open(*run.group.transport(), roles));
  made->connections = std::move(*connections);
  made->client.emplace(made->connections, roles, *made->peers);
  if (!made->connections.workers.empty())
    made->serve();
  return made;
}

void ServedWeights::serve() {
  shard.emplace(shardOptions(run.plan, run.group.rank(), [] { return std::vector<int>(); }),
                connections);
  for (int worker = 0; worker < shard->workers(); ++worker) {
    startThread([this, worker] { return shard->serve(worker); });
    if (shard->hasKeeper())
      startThread([this, worker] { return shard->keep(worker); });
  }
}

void ServedWeights::startThread(std::function<Status()> work) {
  threads.emplace_back([this, work = std::move(work)] {
    const Status s = core::guarded(work);
    // The worker itself meets the loss of a rank, and knows its step.
    if (!s && s.kind() != ErrorKind::peerLost)
      launch::conclude("syncline-run", s, &run.group);
  });
}

ServedWeights::~ServedWeights() {
  for (std::thread &thread : threads)
    thread.join();
}

std::unique_ptr<core::Exchanges> ServedWeights::worker(std::span<float> weights) {
  const PlanConsistency &c = run.plan.consistency;
  servers::WorkerOptions options{served(c, weights), run.group.rank() == 0,
                                 [&group = run.group] { return receivedSignal(&group); }};
  if (isElastic(c))
    return std::make_unique<servers::ElasticWorker>(
        *client,
        servers::ElasticWorker::Elastic{c.period, run.options.optimizer.rate * c.rho,
                                        c.variant == Variant::original},
        std::move(options));
  return std::make_unique<servers::AdditiveWorker>(*client, boundsOf(c), run.plan.ranks,
                                                   std::move(options));
}

} // namespace syncline::run
