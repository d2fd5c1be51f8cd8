// Checks between ranks, and their channels.
#include "runtime/run/RankLinks.h"

#include "runtime/run/ServerRun.h"
#include "runtime/run/checkpoint/Sha256.h"
#include "runtime/transport/GroupPeers.h"

#include <algorithm>
#include <set>

namespace syncline::run {

Status RankLinks::agree(const core::Executable &executable, std::int64_t first,
                        std::int64_t steps) {
  // Different processors may choose different layouts; sums over raw bytes would mix them.
  const std::string layout = sha256(executable.layoutFingerprint()).substr(0, 16);
  SYNCLINE_TRY(run.group.agree({{"memory layout", layout}}, transport::Participants::workers));
  SYNCLINE_TRY(agreeOnNodes());
  if (run.plan.servers == 0)
    return Status::ok();
  // Servers have neither step nor data, so they cannot compute the number of steps themselves.
  const std::int64_t traced =
      run.options.trace.empty() ? 0 : std::min(run.options.traceSteps, steps - first);
  const std::string told =
      std::to_string(steps) + " " + std::to_string(first) + " " + std::to_string(traced);
  return run.group.gather(stepsKey, told, run.options.startTimeout).status();
}

/// Checks the nodes for hierarchical buckets, which take ranks [i·n, (i+1)·n) for a node. Other
/// schemes work with any placement.
Status RankLinks::agreeOnNodes() {
  const Plan &plan = run.plan;
  const launch::Identity &identity = run.identity;
  auto isHierarchical = [](const auto &message) { return message.scheme == Scheme::hierarchical; };
  if (std::none_of(plan.buckets.begin(), plan.buckets.end(), isHierarchical) &&
      std::none_of(plan.consistency.exchanges.begin(), plan.consistency.exchanges.end(),
                   isHierarchical))
    return Status::ok();
  SYNCLINE_TRY(run.group.agree({{"number of ranks a node", std::to_string(identity.localSize)}},
                               transport::Participants::workers));
  const Status s =
      checkNodes(plan.ranksPerNode, identity.rank, identity.localRank, identity.localSize);
  if (s || plan.ranksPerNode == 0 || identity.localSize == plan.ranksPerNode)
    return s;
  return Status::badInput(s.message() + "; '--ranks-per-node " + std::to_string(plan.ranksPerNode) +
                          "' takes them for several nodes");
}

Result<std::unique_ptr<Trainer>> RankLinks::openTrainer(core::Executable &executable) {
  if (run.plan.consistency.isServed())
    return openServed(executable);
  const Result<TrainerLinks> links = open(executable);
  return links ? Trainer::create(executable, run.plan.ranks, *links, run.plan.consistency,
                                 run.options.optimizer.rate)
               : links.status();
}

/// To the trainer, a worker of servers is a lone rank with exchanges between its steps.
Result<std::unique_ptr<Trainer>> RankLinks::openServed(core::Executable &executable) {
  SYNCLINE_TRY_GET(trainer, Trainer::create(executable, 1));
  SYNCLINE_TRY_GET(opened,
                   ServedWeights::open({run.options, run.plan, run.group, run.timeoutSeconds}));
  served = std::move(*opened);
  const core::Interval all = executable.space(Space::parameters);
  auto worker = served->worker(
      {static_cast<float *>(all.data), static_cast<std::size_t>(all.bytes) / sizeof(float)});
  SYNCLINE_TRY(worker->begin());
  (*trainer)->exchangeBy(std::move(worker), [this] { return run.group.transport()->traffic(); });
  // Rank 0 serves the meeting point, without which nothing goes on.
  std::set<int> spared;
  for (int rank = 1; rank < run.plan.ranks && run.plan.sparesWorkers(); ++rank)
    spared.insert(rank);
  if (run.identity.rank == 0)
    run.group.spare(spared);
  return trainer;
}

Result<TrainerLinks> RankLinks::open(core::Executable &executable) {
  const Plan &plan = run.plan;
  if (!run.backend.hasChannels()) {
    SYNCLINE_TRY(run.group.connect(run.timeoutSeconds));
    return hostLinks(executable, *run.group.transport(), plan.ranks,
                     {.ranksPerNode = run.identity.localSize, .servers = plan.servers},
                     run.options.wire);
  }
  if (plan.servers > 0)
    return Status::badInput("'" + plan.folder + "' has servers of their own, which backend '" +
                            run.options.backend + "' does not know");
  peers = transport::createPeers(run.group, run.timeoutSeconds, run.options.startTimeout);
  TrainerLinks links;
  links.open = [this, &executable](int channel, const std::vector<Scheme> &schemes) {
    return run.backend.openChannel(executable, *peers,
                                   {.channel = channel,
                                    .schemes = schemes,
                                    .wire = run.options.wire,
                                    .sharesDevice = run.options.sharesDevice,
                                    .planFolder = run.plan.folder});
  };
  return links;
}

} // namespace syncline::run
