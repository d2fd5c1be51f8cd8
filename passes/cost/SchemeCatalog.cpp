// Derives the schemes and their costs from a cluster's description.
#include "passes/cost/SchemeCatalog.h"

#include "passes/cost/CollectiveTime.h"
#include "passes/problem/NcclCost.h"
#include "passes/problem/SchemeCost.h"
#include "passes/problem/TreeCost.h"

#include <algorithm>
#include <limits>

namespace syncline::cost {

using cluster::LinkAttr;
using Cost = std::shared_ptr<const problem::CollectiveCost>;

namespace {

constexpr auto ncclAllReduces =
    schemesWhere<[](Scheme scheme) { return isAllReduce(scheme) && isCarried(scheme, true); }>;
constexpr auto formulaAllReduces =
    schemesWhere<[](Scheme scheme) { return isAllReduce(scheme) && hasFormula(scheme); }>;

class CatalogBuilder {
public:
  CatalogBuilder(cluster::SpecAttr spec, WirePrecision wire)
      : spec(spec), wire(wire), link(cluster::slowestLink(spec)),
        ranks(static_cast<int>(spec.getRanks())) {}

  Result<SchemeCatalog> build() {
    catalog.ranks = ranks;
    catalog.wire = wire;
    catalog.largestMessage = spec.getLargestMessage();
    catalog.byNccl = spec.getNccl();
    for (cluster::CollectiveAttr stated : spec.getCollectives())
      if (isAllReduce(stated.getScheme()))
        add(stated.getScheme(), this->stated(stated.getScheme()));
    if (!catalog.unsupported.empty() && catalog.collectives.empty())
      return Status::badInput(
          "cluster '" + spec.getName().str() + "' states no all-reduce " +
          (catalog.byNccl ? "that NCCL has: expected " + listOf(ncclAllReduces) + ", got " +
                                cluster::stringifyScheme(catalog.unsupported.front()).str()
                          : "beside 'library', which NCCL alone has ('--backend cuda')"));
    if (catalog.collectives.empty() && link)
      addFormulas();
    addReduceScatter();
    addServers();
    addGather();
    if (catalog.collectives.empty() && !catalog.servers)
      return Status::badInput("cluster '" + spec.getName().str() +
                              "': expected a network, an all-reduce or servers, got " +
                              (catalog.unsupported.empty() ? "none"
                                                           : "dedicated servers, which NCCL's "
                                                             "messages do not go through"));
    addInterference();
    return catalog;
  }

private:
  /// Adds an all-reduce, unless what carries the messages does not have it.
  void add(Scheme scheme, Cost cost) {
    if (isCarried(scheme, catalog.byNccl))
      catalog.collectives.push_back(option(scheme, std::move(cost)));
    else
      catalog.unsupported.push_back(scheme);
  }

  /// The cost that the cluster states for a scheme, or null. A formula over the network's own
  /// constants is derived from the network again.
  Cost stated(Scheme scheme) const { return stated(scheme, scheme); }

  /// The cost that the cluster states for a scheme, for the bytes that travel by `carried`.
  Cost stated(Scheme scheme, Scheme carried) const {
    for (cluster::CollectiveAttr collective : spec.getCollectives())
      if (collective.getScheme() == scheme)
        return isOfNetwork(spec, collective.getCost())
                   ? formula(scheme)
                   : problem::narrowed(*collectiveTime(collective.getCost()),
                                       wireShareOf(carried, wire));
    return nullptr;
  }

  static problem::LinkRates rates(LinkAttr link) {
    return {link.getAlpha(), link.getBeta(), link.getGamma()};
  }

  /// The rates for bytes of gradients that travel by the scheme.
  problem::LinkRates narrowed(problem::LinkRates rates, Scheme scheme) const {
    rates.secondsPerByte *= wireShareOf(scheme, wire);
    return rates;
  }

  /// Rates of what this cluster gets of one network card, of which each group has an equal part.
  /// `bothWays` says that ranks send and receive at the same time, which halves the bandwidth of a
  /// half duplex link.
  problem::LinkRates card(bool bothWays) const {
    problem::LinkRates one = rates(link);
    one.secondsPerByte *= static_cast<double>(spec.getGroups());
    one.secondsPerByte *= bothWays && spec.getHalfDuplex() ? 2 : 1;
    return one;
  }

  /// Rates of one rank where `sharers` ranks of a node send at the same time over the node's cards
  /// and the links inside the node.
  problem::LinkRates share(bool bothWays, double sharers) const {
    problem::LinkRates one = card(bothWays);
    one.secondsPerByte *= sharers / static_cast<double>(spec.getCardsPerNode());
    if (spec.getInside() && spec.getDevicesPerNode() > 1)
      one.secondsPerByte = std::max<double>(one.secondsPerByte, spec.getInside().getBeta());
    return one;
  }

  double traffic(Scheme scheme) const { return wireShareOf(scheme, wire) * trafficOfF32(scheme); }

  double trafficOfF32(Scheme scheme) const {
    if (hasFormula(scheme))
      return problem::formulaTraffic(scheme, ranks, problem::oneTreeBytes + 1);
    switch (schemeKind(scheme)) {
    case SchemeKind::servers:
      return problem::parameterServerTraffic(serverLayout());
    case SchemeKind::gathered:
      return problem::allGatherTraffic(ranks);
    case SchemeKind::allReduce: // see below
    case SchemeKind::sharded:
      break;
    }
    // A hierarchical one moves (d-1)/d inside, and (n-1)/n of 1/d between: the ring's sum. What
    // "library" moves NCCL does not say.
    return problem::ringTraffic(ranks);
  }

  problem::SchemeOption option(Scheme scheme, Cost cost) const {
    std::optional<double> shortTraffic;
    if (!catalog.byNccl)
      shortTraffic = problem::shortTraffic(scheme, ranks);
    if (shortTraffic)
      *shortTraffic *= wireShareOf(scheme, wire);
    return {scheme, std::move(cost), traffic(scheme), shortTraffic};
  }

  /// The formula of a scheme over the cluster's links.
  Cost formula(Scheme scheme) const {
    if (isByProtocols(spec) && isCarried(scheme, /*byNccl=*/true))
      return problem::ncclCost(scheme, ncclLayout(wireShareOf(scheme, wire)));
    if (scheme == Scheme::tree && spec.getNccl())
      return ncclTree();
    const auto devices = static_cast<int>(spec.getDevicesPerNode());
    const double sharers = problem::formulaSharers(scheme, ranks, devices);
    return problem::formulaCost(scheme, ranks, narrowed(share(true, sharers), scheme));
  }

  /// The cost of NCCL's tree. The last node may have fewer devices than the others.
  Cost ncclTree() const {
    problem::NodeLayout nodes;
    nodes.nodes = ranks;
    if (spec.getInside() && ranks > 1) {
      nodes.devicesPerNode = static_cast<int>(spec.getDevicesPerNode());
      nodes.nodes = (ranks + nodes.devicesPerNode - 1) / nodes.devicesPerNode;
      nodes.inside.latency = spec.getInside().getAlpha();
    }
    nodes.between = narrowed(share(true, 1), Scheme::tree);
    return line(problem::ncclTreeCost(nodes));
  }

  /// What NCCL's protocols reach on the links, by bytes of which `wireShare` travel.
  problem::NcclLayout ncclLayout(double wireShare, bool bothWays = true) const {
    problem::NcclLayout layout;
    layout.devices = static_cast<int>(spec.getDevicesPerNode());
    layout.nodes = (ranks + layout.devices - 1) / layout.devices;
    if (layout.devices > 1)
      layout.inside = ncclLink(spec.getInside(), wireShare * spec.getInside().getBeta());
    layout.between = ncclLink(link, wireShare * card(bothWays).secondsPerByte /
                                        static_cast<double>(spec.getCardsPerNode()));
    return layout;
  }

  static problem::NcclLink ncclLink(LinkAttr of, double secondsPerByte) {
    const cluster::ProtocolsAttr has = of.getProtocols();
    problem::NcclLink result{.secondsPerByte = secondsPerByte,
                             .ll = {has.getLl(), has.getLlShare()},
                             .ll128 = {has.getLl128(), has.getLl128Share()},
                             .simple = {has.getSimple(), has.getSimpleShare()},
                             .inSwitch = {}};
    if (has.getInSwitch())
      result.inSwitch = {*has.getInSwitch(), *has.getInSwitchShare()};
    return result;
  }

  static Cost line(problem::AffineCost cost) { return std::make_shared<problem::AffineCost>(cost); }

  void addFormulas() {
    // Where NCCL's own choice is as fast as a ring or a tree it is taken (NcclCost sees to it), for
    // it asks for no algorithm: NCCL then follows its tuning for the machines that it meets, where
    // a plan that asks for the ring would hold it to this prediction.
    if (isByProtocols(spec))
      add(Scheme::library, formula(Scheme::library));
    for (Scheme scheme : formulaAllReduces)
      add(scheme, formula(scheme));
    const auto devices = static_cast<int>(spec.getDevicesPerNode());
    if (devices == 1 || !spec.getInside() || ranks % devices != 0)
      return;
    const problem::NodeLayout nodes{.nodes = ranks / devices,
                                    .devicesPerNode = devices,
                                    .linksPerNode = static_cast<int>(spec.getCardsPerNode()),
                                    .inside =
                                        narrowed(rates(spec.getInside()), Scheme::hierarchical),
                                    .between = narrowed(card(true), Scheme::hierarchical)};
    add(Scheme::hierarchical, line(problem::hierarchicalCost(nodes).total()));
  }

  void addReduceScatter() {
    Cost cost = stated(Scheme::reduceScatter);
    if (!cost && link)
      cost = formula(Scheme::reduceScatter);
    if (cost)
      catalog.reduceScatter = option(Scheme::reduceScatter, std::move(cost));
  }

  /// The servers of the cluster; one beside every rank where the cluster does not say otherwise.
  problem::ServerLayout serverLayout() const {
    problem::ServerLayout layout{.workers = ranks, .servers = ranks};
    if (link) // parameterServerCost itself accounts for half duplex
      layout.worker = layout.server = exchangeRates();
    if (cluster::ServersAttr servers = spec.getServers()) {
      layout.servers = static_cast<int>(servers.getCount());
      layout.dedicated = servers.getDedicated();
      if (servers.getDedicated() || !link)
        layout.server = rates(servers.getLink());
      if (!link)
        layout.worker = layout.server;
    }
    layout.worker = narrowed(layout.worker, Scheme::parameterServer);
    layout.server = narrowed(layout.server, Scheme::parameterServer);
    layout.duplex = spec.getHalfDuplex() ? problem::Duplex::half : problem::Duplex::full;
    return layout;
  }

  /// The rates of a rank that exchanges with all others at once.
  problem::LinkRates exchangeRates() const {
    problem::LinkRates one = share(false, spec.getDevicesPerNode());
    if (isByProtocols(spec)) {
      const problem::LinkRates reached = problem::ncclExchangeRates(ncclLayout(1, false));
      one = {reached.latency, reached.secondsPerByte, one.reduceSecondsPerByte};
    }
    return one;
  }

  void addServers() {
    if (spec.getNccl() && spec.getServers() && spec.getServers().getDedicated()) {
      catalog.unsupported.push_back(Scheme::parameterServer);
      return;
    }
    Cost cost = stated(Scheme::parameterServer);
    if (!cost && (spec.getServers() || link))
      cost = problem::parameterServerCost(serverLayout());
    if (!cost)
      return;
    catalog.servers = option(Scheme::parameterServer, std::move(cost));
    if (!spec.getServers() || !spec.getServers().getMemory())
      return;
    const std::int64_t each = *spec.getServers().getMemory(), count = spec.getServers().getCount();
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    catalog.serverMemory = each > most / count ? most : each * count;
  }

  void addGather() {
    for (Scheme scheme : schemesWhere<isGathered>)
      (hasRows(scheme) ? catalog.rows : catalog.gather) = gatherCost(scheme);
  }

  /// The cost of the all-gather that the cluster states, for the bytes that travel by the scheme.
  Cost gatherCost(Scheme scheme) const {
    if (Cost cost = stated(Scheme::factors, scheme))
      return cost;
    if (!link)
      return nullptr;
    if (isByProtocols(spec))
      return problem::ncclGatherCost(ncclLayout(wireShareOf(scheme, wire)));
    return line(problem::allGatherCost(ranks, narrowed(share(true, 1), scheme)));
  }

  bool isOffered(Scheme scheme) const {
    return isGathered(scheme) ? catalog.gatherOf(scheme) != nullptr
                              : catalog.option(scheme) != nullptr;
  }

  void addInterference() {
    if (ranks == 1)
      return;
    bool tellsClasses = false;
    for (Scheme scheme : allSchemes()) {
      const auto [products, memory] = cluster::interferenceByClass(spec, scheme);
      tellsClasses |= products != memory && isOffered(scheme);
      const auto beside = [&](double factor) {
        const std::optional<cluster::Real> latency = spec.getLatencyInterference();
        return problem::Interference{factor, latency ? double(*latency) : factor};
      };
      catalog.interference.push_back(
          {beside(cluster::interference(spec, scheme)),
           problem::ByClass<problem::Interference>{{beside(products), beside(memory)}}});
    }
    if (!tellsClasses)
      for (problem::SchemeInterference &interference : catalog.interference)
        interference.of.reset();
    const auto set = [&](problem::SchemeOption &option) {
      problem::setLost(option, catalog.interferenceOf(option.scheme));
    };
    std::ranges::for_each(catalog.collectives, set);
    for (std::optional<problem::SchemeOption> *option : {&catalog.servers, &catalog.reduceScatter})
      if (*option)
        set(**option);
  }

  cluster::SpecAttr spec;
  WirePrecision wire;
  LinkAttr link; ///< the slowest node's; null where there is none
  int ranks;
  SchemeCatalog catalog;
};

} // namespace

const problem::SchemeOption *SchemeCatalog::option(Scheme scheme) const {
  if (servers && servers->scheme == scheme)
    return &*servers;
  if (reduceScatter && reduceScatter->scheme == scheme)
    return &*reduceScatter;
  auto found = std::ranges::find(collectives, scheme, &problem::SchemeOption::scheme);
  return found == collectives.end() ? nullptr : &*found;
}

bool isOfNetwork(cluster::SpecAttr spec, mlir::Attribute cost) {
  auto formula = mlir::dyn_cast<cluster::FormulaAttr>(cost);
  LinkAttr link = spec.getLink();
  return formula && link && formula.getAlpha() == link.getAlpha() &&
         formula.getBeta() == link.getBeta() && formula.getGamma() == link.getGamma();
}

bool isByProtocols(cluster::SpecAttr spec) {
  const LinkAttr link = cluster::slowestLink(spec);
  if (!spec.getNccl() || !link || !link.getProtocols())
    return false;
  return spec.getDevicesPerNode() == 1 || (spec.getInside() && spec.getInside().getProtocols());
}

Result<SchemeCatalog> catalogOf(cluster::SpecAttr spec, WirePrecision wire) {
  return CatalogBuilder(spec, wire).build();
}

double wireShareOf(Scheme scheme, WirePrecision wire) {
  if (hasRows(scheme))
    return 1;
  const double share = wireShare(wire);
  return scheme == Scheme::reduceScatter ? (share + 1) / 2 : share;
}

double gatherSeconds(const SchemeCatalog &catalog, Scheme scheme, std::int64_t bytes) {
  return catalog.gatherOf(scheme)->seconds(bytes);
}

void setGatherLost(const SchemeCatalog &catalog, problem::FactorOption &option) {
  problem::setLost(option, catalog.interferenceOf(option.scheme),
                   catalog.gatherOf(option.scheme)->seconds(0));
}

double gatherTraffic(const SchemeCatalog &catalog, Scheme scheme, std::int64_t bytes) {
  return wireShareOf(scheme, catalog.wire) *
         problem::allGatherTraffic(static_cast<int>(catalog.ranks)) * static_cast<double>(bytes);
}

} // namespace syncline::cost
