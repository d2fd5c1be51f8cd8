// Opening the instruments one after the other.
#include "runtime/calibrate/Instruments.h"

#include "runtime/calibrate/Collectives.h"
#include "runtime/calibrate/DeviceChannels.h"
#include "runtime/calibrate/HostMessages.h"
#include "runtime/transport/collectives/RankSubset.h"

#include <algorithm>
#include <numeric>

namespace syncline::calibrate {
namespace {

ChannelWishes wishesOf(const Settings &settings) {
  return {settings.schemes, std::max(settings.sizes.back(), Overlap::maxBytes),
          settings.sharesDevice};
}

/// Seconds of the matrix product on the fastest rank. The first run prepares and is not used.
Result<double> busySeconds(Device &device, Team &team) {
  double least = 0;
  for (int run = 0; run < 2; ++run) {
    SYNCLINE_TRY_GET(own, device.time([&] { return device.run(device.compute().back()); }));
    SYNCLINE_TRY_GET(all, team.share(*own));
    least = *std::min_element(all->begin(), all->end());
  }
  return least;
}

} // namespace

std::vector<Scheme> usableSchemes(const core::Backend &backend, int ranks,
                                  const Settings &settings) {
  return backend.hasChannels() ? channelSchemes() : usableSchemes(ranks, settings.ranksPerNode);
}

Result<Instruments> Instruments::open(const Site &site, const Settings &settings) {
  Instruments all;
  if (site.backend.hasChannels()) {
    all.team = Team::create(*site.peers);
  } else {
    SYNCLINE_TRY_GET(made, Team::create(*site.transport, "calibrate"));
    all.team = std::move(*made);
  }
  SYNCLINE_TRY(all.openDevice(site, settings));
  Status s = site.backend.hasChannels() ? all.openOnDevice(site, settings)
                                        : all.openOnHost(site, settings);
  return s ? Result<Instruments>(std::move(all)) : s;
}

/// Opens the device with the same amount of work on all ranks: on GPUs the least that keeps the
/// fastest one busy.
Status Instruments::openDevice(const Site &site, const Settings &settings) {
  constexpr double busy = 1e-3; ///< seconds of the product that make the launch overhead negligible
  DeviceOptions options;
  options.how.threads = settings.threads;
  options.how.device = site.device;
  options.how.precision = settings.precision;
  options.how.rank = team->rank();
  options.how.ranks = team->size();
  const bool hasChannels = site.backend.hasChannels();
  if (hasChannels) {
    options.messages = bucketsFor(wishesOf(settings));
    options.messageBytes = wishesOf(settings).largest;
  }
  for (int work = hasChannels ? 0 : Device::processorWork;; ++work) {
    device.reset(); // frees its memory for the next one
    SYNCLINE_TRY_GET(made, Device::create(site.backend, options, work));
    device = std::move(*made);
    if (!hasChannels || work == Device::maxWork)
      return Status::ok();
    Result<double> seconds = busySeconds(*device, *team);
    if (!seconds || *seconds >= busy)
      return seconds.status();
  }
}

Status Instruments::openOnHost(const Site &site, const Settings &settings) {
  transport::Transport &transport = *site.transport;
  SYNCLINE_TRY_GET(madePairs, Pairs::open(transport));
  pairs = std::move(*madePairs);
  SYNCLINE_TRY_GET(madeLatency, LatencyOverlap::open(transport, *team, *device));
  latencyOverlap = std::move(*madeLatency);
  const int perNode = settings.ranksPerNode;
  openOverlap = [&transport, perNode, who = team.get(), what = device.get()](Scheme scheme) {
    return openHostOverlap(scheme, transport, *who, *what, {.ranksPerNode = perNode});
  };
  const std::int64_t largest = settings.sizes.back();
  SYNCLINE_TRY_GET(opened, openHostMessages(transport, *team, {.ranksPerNode = perNode},
                                            settings.schemes, largest));
  messages = std::move(*opened);
  if (perNode == 1 || perNode == transport.size())
    return Status::ok();
  std::vector<int> members(static_cast<std::size_t>(perNode));
  std::iota(members.begin(), members.end(), transport.rank() / perNode * perNode);
  node = std::make_unique<transport::RankSubset>(transport, members);
  SYNCLINE_TRY_GET(madeTeam, Team::create(*node, "calibrate/node"));
  nodeTeam = std::move(*madeTeam);
  auto ring = openNodeRing(*node, *nodeTeam, largest);
  if (ring)
    nodeRing = std::move(*ring);
  return ring.status();
}

/// Opens channels without pairs and without rings inside nodes: these need links between some of
/// the ranks, but the channels connect all of them.
Status Instruments::openOnDevice(const Site &site, const Settings &settings) {
  SYNCLINE_TRY_GET(
      opened, DeviceChannels::open(site.backend, *site.peers, *team, *device, wishesOf(settings)));
  std::shared_ptr<DeviceChannels> channels = std::move(*opened);
  messages = channelMessages(channels, settings.schemes, settings.sizes.back());
  openOverlap = [channels, who = team.get(), what = device.get()](Scheme scheme) {
    return Result<std::unique_ptr<Overlap>>(createDeviceOverlap(scheme, *who, *what, channels));
  };
  return Status::ok();
}

} // namespace syncline::calibrate
