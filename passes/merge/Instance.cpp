// Lanes, solos and riders of an instance.
#include "passes/merge/Instance.h"

#include "passes/cost/CollectiveTime.h"
#include "passes/merge/LayerNames.h"
#include "passes/merge/TimedFactors.h"

#include <algorithm>

using namespace mlir;

namespace syncline {

namespace {

using cluster::Scheme;

std::string quoted(StringRef text) { return ("'" + text + "'").str(); }
std::string quoted(Scheme scheme) { return quoted(cluster::stringifyScheme(scheme)); }
std::string bytesText(std::int64_t bytes) { return std::to_string(bytes) + " B"; }

class Poser {
public:
  Poser(MLIRContext *context, cost::Timeline timeline, cluster::DeviceAttr device,
        const cost::Offer &offer)
      : context(context), device(device), offer(offer) {
    instance.timeline = std::move(timeline);
  }

  Result<Instance> pose(ArrayRef<ForcedScheme> patterns) {
    if (Status status = force(patterns); !status)
      return status;
    if (Status status = addSolos(); !status)
      return status;
    addRiders();
    if (Status status = addLanes(); !status)
      return status;
    if (Status status = checkSizes(); !status)
      return status;
    return std::move(instance);
  }

private:
  std::vector<cost::ReadyGradient> &gradients() { return instance.timeline.gradients; }
  bool isForced(std::size_t k, Scheme scheme) const { return forced[k] == scheme; }
  Status refuse(std::size_t k, const std::string &why) {
    return Status::badInput("layer " + quoted(gradients()[k].name) + " cannot travel by " +
                            quoted(*forced[k]) + ": " + why);
  }

  Status match(ArrayRef<ForcedScheme> patterns) {
    std::vector<GradientNames> names;
    for (const cost::ReadyGradient &gradient : gradients())
      names.push_back(namesOf(gradient));
    auto matched = forcedSchemes(names, patterns);
    if (matched)
      forced = std::move(*matched);
    return matched.status();
  }

  /// Who must travel how. A reduce-scatter's message writes parameters, so it waits for their
  /// readers and takes their updates over.
  Status force(ArrayRef<ForcedScheme> patterns) {
    if (Status status = match(patterns); !status)
      return status;
    // A sum of what is left: a difference would leave a residue where nothing is.
    instance.timeline.updates = 0;
    for (std::size_t k = 0; k < forced.size(); ++k) {
      cost::ReadyGradient &gradient = gradients()[k];
      if (!isForced(k, Scheme::reduceScatter)) {
        instance.timeline.updates += gradient.updating;
        continue;
      }
      gradient.ready = std::max(gradient.ready, gradient.lastRead);
      shardUpdates += gradient.updating;
      shardBytes += gradient.bytes;
    }
    std::ranges::stable_sort(gradients(), {}, &cost::ReadyGradient::ready);
    return match(patterns);
  }

  /// Why the cluster does not offer the scheme.
  std::string whyNot(Scheme scheme) const {
    if (offer.byNccl && !cluster::ncclHas(scheme))
      return "NCCL, which carries the messages, has ring, tree, reduce-scatter, parameter-server "
             "and factors only";
    if (llvm::is_contained(offer.leftOut, scheme))
      return "NCCL, which carries the messages, knows no dedicated servers";
    return "the cluster does not offer it";
  }

  Status addSolos() {
    factors = timedFactors(instance.timeline, device);
    carriers.resize(factors.size());
    hasSolo.resize(factors.size());
    for (std::size_t k = 0; k < factors.size(); ++k)
      if (factors[k])
        for (const TimedFactors::Rider &rider : factors[k]->riders)
          if (!carriers[rider.gradient])
            carriers[rider.gradient] = k;
    for (std::size_t k = 0; k < factors.size(); ++k) {
      if (isForced(k, Scheme::factors))
        if (Status status = checkFactors(k); !status)
          return status;
      const bool isOffered = offer.gather && (offer.ranks > 1 || forced[k]);
      hasSolo[k] =
          factors[k] && isOffered && forced[k].value_or(Scheme::factors) == Scheme::factors;
      if (hasSolo[k])
        instance.solos.push_back(soloOf(k));
    }
    return Status::ok();
  }

  Status checkFactors(std::size_t k) {
    if (!offer.gather)
      return refuse(k, "the cluster has neither a network nor the cost of an all-gather");
    if (factors[k])
      return Status::ok();
    if (!carriers[k])
      return refuse(k, "its gradient is no product of two factors that sums over samples");
    if (!isForced(*carriers[k], Scheme::factors))
      return refuse(k, "it is computed from the factors of " +
                           quoted(gradients()[*carriers[k]].name) + ", which need not travel so");
    return Status::ok();
  }

  /// One rank's share of the product, and of the sums that ride with this one.
  double rebuildOf(std::size_t k) const {
    double seconds = factors[k]->rebuild;
    for (const TimedFactors::Rider &rider : factors[k]->riders)
      seconds += carriers[rider.gradient] == k ? rider.rebuild : 0;
    return seconds;
  }

  sync::SoloAttr soloOf(std::size_t k) {
    return sync::SoloAttr::get(context, static_cast<std::int64_t>(k), Scheme::factors,
                               cost::gatherSeconds(offer, factors[k]->bytes),
                               static_cast<double>(offer.ranks - 1) * rebuildOf(k),
                               cost::gatherTraffic(offer, factors[k]->bytes), factors[k]->bytes);
  }

  void addRiders() {
    for (std::size_t k = 0; k < carriers.size(); ++k)
      if (carriers[k] && hasSolo[*carriers[k]] && !hasSolo[k] &&
          forced[k].value_or(Scheme::factors) == Scheme::factors) {
        instance.riders.push_back(static_cast<std::int64_t>(k));
        instance.riders.push_back(static_cast<std::int64_t>(*carriers[k]));
      }
  }

  Status addLanes() {
    std::int64_t total = 0;
    for (const cost::ReadyGradient &gradient : gradients())
      total += gradient.bytes;
    isTight = offer.serverMemory && total > *offer.serverMemory;
    std::int64_t free = 0;
    if (forced.empty() || llvm::is_contained(forced, std::nullopt))
      free = addSharedLanes();
    for (std::size_t k = 0; k < forced.size(); ++k) {
      if (!forced[k] || isForced(k, Scheme::factors)) {
        instance.only.push_back(forced[k] ? 0 : free);
        continue;
      }
      sync::OptionAttr option = offer.option(*forced[k]);
      if (!option)
        return refuse(k, whyNot(*forced[k]));
      instance.only.push_back(std::int64_t{1} << laneOf(withUpdates(option)));
    }
    if (instance.lanes.empty()) // every layer goes by factors
      addSharedLanes();
    if (instance.lanes.size() > sync::maxLanes)
      return Status::badInput("expected schemes asked for by name that make at most " +
                              std::to_string(sync::maxLanes) +
                              " lanes, one a scheme besides what all other layers share, got " +
                              std::to_string(instance.lanes.size()));
    return Status::ok();
  }

  /// What any layer may take; returns the set of lanes.
  std::int64_t addSharedLanes() {
    llvm::SmallVector<sync::OptionAttr> shared(offer.collectives);
    if (offer.servers && !isTight)
      shared.push_back(offer.servers);
    if (!shared.empty())
      addLane(shared);
    if (offer.servers && isTight)
      addLane(offer.servers);
    return (std::int64_t{1} << instance.lanes.size()) - 1;
  }

  void addLane(ArrayRef<sync::OptionAttr> options) {
    const bool isServers = options.front().getScheme() == Scheme::parameterServer;
    instance.lanes.push_back(
        sync::LaneAttr::get(context, options, offer.largestMessage,
                            isServers && isTight ? offer.serverMemory : std::nullopt));
  }

  /// The lane of this option alone.
  std::size_t laneOf(sync::OptionAttr option) {
    auto *found = llvm::find_if(instance.lanes, [&](sync::LaneAttr lane) {
      return lane.getOptions().size() == 1 && lane.getOptions().front() == option;
    });
    if (found == instance.lanes.end()) {
      addLane(option);
      return instance.lanes.size() - 1;
    }
    return static_cast<std::size_t>(found - instance.lanes.begin());
  }

  /// A reduce-scatter's message also updates its rank's share of the parameters.
  sync::OptionAttr withUpdates(sync::OptionAttr option) const {
    if (option.getScheme() != Scheme::reduceScatter || shardUpdates == 0)
      return option;
    const double perByte =
        shardUpdates / static_cast<double>(shardBytes) / static_cast<double>(offer.ranks);
    Attribute cost = cost::costAttr(context, **cost::collectiveTime(option.getCost()), perByte);
    return sync::OptionAttr::get(context, option.getScheme(), cost, option.getTraffic());
  }

  /// Every gradient must have a way that takes it, and servers room for what only they can take.
  Status checkSizes() {
    std::int64_t captive = 0;
    for (std::size_t k = 0; k < forced.size(); ++k) {
      if (hasSolo[k] || instance.only[k] == 0)
        continue;
      const cost::ReadyGradient &gradient = gradients()[k];
      if (offer.largestMessage && gradient.bytes > *offer.largestMessage)
        return Status::badInput("layer " + quoted(gradient.name) + " has " +
                                bytesText(gradient.bytes) + ", the cluster's largest message " +
                                bytesText(*offer.largestMessage));
      const bool hasOnlyServers = llvm::all_of(llvm::enumerate(instance.lanes), [&](auto lane) {
        return !(instance.only[k] >> lane.index() & 1) || lane.value().getCapacity();
      });
      captive += hasOnlyServers ? gradient.bytes : 0;
    }
    if (isTight && captive > *offer.serverMemory)
      return Status::badInput("servers hold " + bytesText(*offer.serverMemory) +
                              ", gradients that must go through them are " + bytesText(captive));
    return Status::ok();
  }

  MLIRContext *context;
  cluster::DeviceAttr device;
  const cost::Offer &offer;
  Instance instance;
  std::vector<std::optional<Scheme>> forced;        ///< by gradient, as the next three
  std::vector<std::optional<TimedFactors>> factors; ///< also where they are not offered
  std::vector<std::optional<std::size_t>> carriers;
  std::vector<bool> hasSolo;
  double shardUpdates = 0;     ///< seconds of the updates that reduce-scatters take over
  std::int64_t shardBytes = 0; ///< of their gradients
  bool isTight = false;        ///< servers cannot hold every gradient
};

} // namespace

Result<Instance> poseInstance(MLIRContext *context, cost::Timeline timeline,
                              cluster::DeviceAttr device, const cost::Offer &offer,
                              ArrayRef<ForcedScheme> forced) {
  return Poser(context, std::move(timeline), device, offer).pose(forced);
}

} // namespace syncline
