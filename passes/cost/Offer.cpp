// From a cluster to what it offers.
#include "passes/cost/Offer.h"

#include "passes/cost/CollectiveTime.h"
#include "passes/solver/joint/JointBuilder.h"

#include <limits>

using namespace mlir;

namespace syncline::cost {

namespace {

using cluster::Scheme;

/// As servers cut a message: pulling a piece overlaps pushing the next.
constexpr std::int64_t serverPieceBytes = std::int64_t{1} << 20;

class OfferBuilder {
public:
  explicit OfferBuilder(cluster::SpecAttr spec)
      : spec(spec), context(spec.getContext()), ranks(static_cast<int>(spec.getRanks())) {}

  Result<Offer> build() {
    offer.ranks = ranks;
    offer.largestMessage = spec.getLargestMessage();
    for (cluster::CollectiveAttr stated : spec.getCollectives())
      if (cluster::isAllReduce(stated.getScheme()))
        offer.collectives.push_back(option(stated.getScheme(), stated.getCost()));
    if (offer.collectives.empty() && spec.getLink())
      addFormulas();
    addReduceScatter();
    addServers();
    addGather();
    if (offer.collectives.empty() && !offer.servers)
      return Status::badInput("cluster '" + spec.getName().str() +
                              "': expected a network, an all-reduce or servers, got none");
    return offer;
  }

private:
  Attribute stated(Scheme scheme) const {
    for (cluster::CollectiveAttr collective : spec.getCollectives())
      if (collective.getScheme() == scheme)
        return collective.getCost();
    return {};
  }

  static solver::LinkRates rates(cluster::LinkAttr link) {
    return {link.getAlpha(), link.getBeta(), link.getGamma()};
  }

  /// Of a scheme whose ranks send and receive at the same time.
  solver::LinkRates bothWays() const {
    solver::LinkRates both = rates(spec.getLink());
    both.secondsPerByte *= spec.getHalfDuplex() ? 2 : 1;
    return both;
  }

  double traffic(Scheme scheme) const {
    switch (scheme) {
    case Scheme::recursiveDoubling:
    case Scheme::tree:
      for (const solver::SchemeOption &option : solver::formulaCollectives(ranks, {}))
        if (solver::schemeName(option.scheme) == cluster::stringifyScheme(scheme).str())
          return option.traffic;
      llvm_unreachable("both have formulas");
    case Scheme::parameterServer:
      return solver::parameterServerTraffic(serverLayout());
    case Scheme::ring:
    case Scheme::halvingDoubling:
    case Scheme::reduceScatter:
    case Scheme::hierarchical: // (d-1)/d inside and (n-1)/n of 1/d between come to the same
      return solver::ringTraffic(ranks);
    case Scheme::factors:
      return solver::allGatherTraffic(ranks);
    }
    llvm_unreachable("every scheme is named above");
  }

  sync::OptionAttr option(Scheme scheme, Attribute cost) const {
    return sync::OptionAttr::get(context, scheme, cost, traffic(scheme));
  }

  Attribute formula(Scheme scheme) const {
    const solver::LinkRates link = scheme == Scheme::tree ? rates(spec.getLink()) : bothWays();
    return cluster::FormulaAttr::get(context, scheme, ranks, link.latency, link.secondsPerByte,
                                     link.reduceSecondsPerByte);
  }

  void addFormulas() {
    for (Scheme scheme :
         {Scheme::ring, Scheme::recursiveDoubling, Scheme::halvingDoubling, Scheme::tree})
      offer.collectives.push_back(option(scheme, formula(scheme)));
    const auto devices = static_cast<int>(spec.getDevicesPerNode());
    if (devices == 1 || !spec.getInside() || ranks % devices != 0)
      return;
    const solver::NodeLayout nodes{.nodes = ranks / devices,
                                   .devicesPerNode = devices,
                                   .inside = rates(spec.getInside()),
                                   .between = bothWays()};
    offer.collectives.push_back(
        option(Scheme::hierarchical, costAttr(context, solver::hierarchicalCost(nodes).total())));
  }

  void addReduceScatter() {
    Attribute cost = stated(Scheme::reduceScatter);
    if (!cost && spec.getLink())
      cost = formula(Scheme::reduceScatter);
    if (cost)
      offer.reduceScatter = option(Scheme::reduceScatter, cost);
  }

  /// One server beside every rank where the cluster does not say otherwise.
  solver::ServerLayout serverLayout() const {
    solver::ServerLayout layout{.workers = ranks, .servers = ranks};
    if (spec.getLink())
      layout.worker = layout.server = rates(spec.getLink());
    if (cluster::ServersAttr servers = spec.getServers()) {
      layout.servers = static_cast<int>(servers.getCount());
      layout.dedicated = servers.getDedicated();
      layout.server = rates(servers.getLink());
      if (!spec.getLink())
        layout.worker = layout.server;
    }
    layout.duplex = spec.getHalfDuplex() ? solver::Duplex::half : solver::Duplex::full;
    layout.pieceBytes = serverPieceBytes;
    return layout;
  }

  void addServers() {
    Attribute cost = stated(Scheme::parameterServer);
    if (!cost && (spec.getServers() || spec.getLink()))
      cost = costAttr(context, *solver::serverOption(serverLayout()).cost);
    if (!cost)
      return;
    offer.servers = option(Scheme::parameterServer, cost);
    if (!spec.getServers() || !spec.getServers().getMemory())
      return;
    const std::int64_t each = *spec.getServers().getMemory(), count = spec.getServers().getCount();
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    offer.serverMemory = each > most / count ? most : each * count;
  }

  void addGather() {
    offer.gather = stated(Scheme::factors);
    if (!offer.gather && spec.getLink())
      offer.gather = costAttr(context, solver::allGatherCost(ranks, bothWays()));
  }

  cluster::SpecAttr spec;
  MLIRContext *context;
  int ranks;
  Offer offer;
};

} // namespace

sync::OptionAttr Offer::option(cluster::Scheme scheme) const {
  switch (scheme) {
  case Scheme::parameterServer:
    return servers;
  case Scheme::reduceScatter:
    return reduceScatter;
  case Scheme::factors:
    return {};
  case Scheme::ring:
  case Scheme::recursiveDoubling:
  case Scheme::halvingDoubling:
  case Scheme::tree:
  case Scheme::hierarchical:
    break;
  }
  for (sync::OptionAttr option : collectives)
    if (option.getScheme() == scheme)
      return option;
  return {};
}

Result<Offer> offerOf(cluster::SpecAttr spec) { return OfferBuilder(spec).build(); }

double gatherSeconds(const Offer &offer, std::int64_t bytes) {
  return (*collectiveTime(offer.gather))->seconds(bytes);
}

double gatherTraffic(const Offer &offer, std::int64_t bytes) {
  return solver::allGatherTraffic(static_cast<int>(offer.ranks)) * static_cast<double>(bytes);
}

} // namespace syncline::cost
