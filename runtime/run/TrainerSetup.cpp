// How a trainer comes about: its channels, its exchanges of weights, and where its buckets lie.
#include "runtime/run/Trainer.h"
#include "runtime/run/plan/PlanMessages.h"
#include "runtime/run/weights/ElasticUpdates.h"
#include "runtime/run/weights/LocalUpdates.h"
#include "runtime/transport/CommunicationThread.h"

#include <algorithm>
#include <set>

namespace syncline::run {

Result<TrainerLinks> hostLinks(core::ShardedOptimizer &optimizer, transport::Transport &transport,
                               int ranks, const transport::RankLayout &layout,
                               core::WirePrecision wire) {
  if (transport.size() != ranks + layout.servers)
    return Status::error(ErrorKind::internal,
                         std::to_string(ranks) + " ranks and " + std::to_string(layout.servers) +
                             " servers on a transport of " + std::to_string(transport.size()));
  TrainerLinks links;
  links.servers = layout.servers;
  links.open = [&optimizer, &transport, layout, wire](
                   int channel,
                   const std::vector<Scheme> &schemes) -> Result<std::unique_ptr<core::Channel>> {
    SYNCLINE_TRY_GET(opened, transport::CommunicationThread::create(
                                 transport, channel, schemes, layout,
                                 [&](int bucket, const core::SumOverRanks &sum) {
                                   return optimizer.updateShard(bucket, sum);
                                 },
                                 wire));
    return std::unique_ptr<core::Channel>(std::move(*opened));
  };
  links.traffic = [&transport] { return transport.traffic(); };
  return links;
}

Result<std::unique_ptr<Trainer>> Trainer::create(core::Executable &executable, int ranks,
                                                 const TrainerLinks &links,
                                                 const PlanConsistency &local, double rate) {
  std::unique_ptr<Trainer> trainer(new Trainer(executable, ranks));
  trainer->lossExchange = std::make_unique<LossExchange>(nullptr, Scheme::ring, 1);
  if (ranks > 1) {
    trainer->traffic = links.traffic;
    trainer->counted = links.traffic ? links.traffic() : transport::Traffic();
    SYNCLINE_TRY(trainer->openChannels(links, local));
  }
  if (local.isLocal())
    SYNCLINE_TRY(trainer->openLocal(local, rate));
  SYNCLINE_TRY(trainer->findBuckets());
  trainer->carried = CarriedBuckets(executable.operations());
  return trainer;
}

void Trainer::exchangeBy(std::unique_ptr<core::Exchanges> chosen,
                         std::function<transport::Traffic()> bytes) {
  exchanges = std::move(chosen);
  traffic = std::move(bytes);
  counted = traffic();
}

/// Opens one channel for each channel number, with its buckets' schemes in the order of first use.
/// Weights have a channel of their own behind the others, so that no fragment delays the loss.
Status Trainer::openChannels(const TrainerLinks &links, const PlanConsistency &weights) {
  std::map<int, std::vector<Scheme>> schemes = schemesByChannel(executable.buckets());
  // The loss needs an all-reduce even when nothing is trained; servers of their own sum gradients.
  auto sumsLoss = [&](Scheme scheme) {
    return isSum(scheme) && isCarried(scheme, /*byNccl=*/false) &&
           (links.servers == 0 || scheme != Scheme::parameterServer);
  };
  std::vector<Scheme> &first = schemes[0];
  auto found = std::find_if(first.begin(), first.end(), sumsLoss);
  if (found == first.end())
    found = first.insert(first.end(), Scheme::ring);
  const Scheme lossScheme = *found;
  if (weights.isLocal()) {
    std::vector<Scheme> &own = schemes[schemes.rbegin()->first + 1];
    for (const PlanExchange &exchange : weights.exchanges)
      if (std::find(own.begin(), own.end(), exchange.scheme) == own.end())
        own.push_back(exchange.scheme);
  }
  for (const auto &[id, used] : schemes) {
    SYNCLINE_TRY_GET(channel, links.open(id, used));
    channels[id] = std::move(*channel);
  }
  lossExchange = std::make_unique<LossExchange>(channels.at(0).get(), lossScheme, ranks);
  return Status::ok();
}

Status Trainer::openLocal(const PlanConsistency &weights, double rate) {
  const core::Interval all = executable.space(Space::parameters);
  const std::span parameters(static_cast<float *>(all.data),
                             static_cast<std::size_t>(all.bytes) / sizeof(float));
  core::Channel *const channel = ranks > 1 ? channels.rbegin()->second.get() : nullptr;
  const auto keep = [this](auto made) {
    if (made)
      exchanges = std::move(*made);
    return made ? Status::ok() : made.status();
  };
  hasWindows = weights.form != PlanConsistency::Form::easgd || weights.period > 1;
  if (weights.form == PlanConsistency::Form::easgd)
    return keep(ElasticUpdates::create(weights, rate, {executable.weights(), parameters}, ranks,
                                       channel, hasWindows ? lossExchange.get() : nullptr));
  return keep(LocalUpdates::create(weights, {executable.weights(), parameters}, ranks, channel,
                                   *lossExchange));
}

/// Finds the address and the element type of each bucket.
Status Trainer::findBuckets() {
  auto at = [&](Space space, const core::Bucket &b) {
    return static_cast<std::byte *>(executable.space(space).data) + b.offset;
  };
  for (const core::Bucket &b : executable.buckets()) {
    std::set<ElementType> types;
    for (const core::StepTensor &t : executable.tensors())
      if (t.space == Space::gradients && t.offset >= b.offset && t.offset < b.offset + b.extent)
        types.insert(t.type);
    if (types.size() > 1)
      return Status::badInput("bucket " + std::to_string(b.id) +
                              " mixes gradients of different element types");
    places[b.id] = {sums() ? channels.at(b.channel).get() : nullptr,
                    at(Space::gradients, b),
                    at(Space::parameters, b),
                    static_cast<std::size_t>(b.extent),
                    types.empty() ? ElementType::f32 : *types.begin(),
                    b.scheme};
    if (b.scheme == Scheme::reduceScatter)
      SYNCLINE_TRY(takeShard(b.id, places[b.id]));
  }
  for (const core::OperationInfo &operation : executable.operations())
    if (operation.kind == core::OperationKind::allGather)
      places.at(operation.bucket).isHalved = true;
  return Status::ok();
}

Status Trainer::takeShard(int bucket, const BucketPlace &place) {
  const core::Range own =
      place.channel ? place.channel->shardOf(place.bytes, place.type) : core::Range{0, place.bytes};
  return executable.takeShard(bucket, static_cast<std::int64_t>(own.begin),
                              static_cast<std::int64_t>(own.size()));
}

} // namespace syncline::run
