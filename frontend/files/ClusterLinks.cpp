// Links of a cluster file, checked key by key.
#include "frontend/files/ClusterLinks.h"

#include "frontend/files/ClusterKinds.h"
#include "frontend/files/TextFile.h"
#include "frontend/files/Units.h"
#include "frontend/files/YamlQuantity.h"
#include "syncline/Suggestion.h"

#include <algorithm>
#include <array>
#include <map>

namespace syncline::files {
namespace {

constexpr std::array<std::string_view, 6> networkKeys = {"kind",  "bandwidth",   "latency",
                                                         "cards", "reduce-rate", "duplex"};
constexpr std::array<std::string_view, 4> linkKeys = {"kind", "bandwidth", "latency",
                                                      "reduce-rate"};
constexpr std::array<std::string_view, 6> serversKeys = {"count",   "dedicated",   "bandwidth",
                                                         "latency", "reduce-rate", "memory"};
constexpr std::array<std::string_view, 2> duplexNames = {"full", "half"};
constexpr std::array<std::string_view, 3> overrideKeys = {"nodes", "device", "network"};
constexpr std::array<std::string_view, 1> overriddenDeviceKeys = {"slowdown"};
/// A limit above the slots of any machine.
constexpr std::int64_t maxCards = 1024;

/// Sets what `map` says of a link; what it leaves out stays as it is.
Status readLinkKeys(const YamlMap &map, Link &link) {
  SYNCLINE_TRY(readOptional(map, "bandwidth", "a data rate", parseByteRate, link.bandwidth));
  SYNCLINE_TRY(readOptional(map, "latency", "a time", parseSeconds, link.latency));
  std::optional<double> reduceRate;
  SYNCLINE_TRY(readOptional(map, "reduce-rate", "a data rate", parseByteRate, reduceRate));
  if (reduceRate)
    link.secondsPerReduce = 1 / *reduceRate;
  return Status::ok();
}

/// Sets what `map` says of a link, starting from its kind's values where it has a kind.
Status readOver(const YamlMap &map, LinkPlace place, Link &link) {
  SYNCLINE_TRY_GET(kind, readKind(map, "link", linkKinds(place)));
  if (*kind) {
    const Link named = *linkKind(**kind, place);
    link.bandwidth = named.bandwidth;
    link.latency = named.latency;
    link.protocols = named.protocols;
  }
  return readLinkKeys(map, link);
}

/// A kind that is all cards of a node together has no further cards.
Status checkCards(const YamlMap &map, std::int64_t cards) {
  const auto kind = map.find("kind");
  if (!kind || cards == 1)
    return Status::ok();
  SYNCLINE_TRY_GET(name, kind->scalar("a kind of link"));
  if (!isOfWholeNode(*name))
    return Status::ok();
  return kind->error("expected the kind of one card beside " + std::to_string(cards) +
                     " 'cards', got '" + *name + "', which is all cards of a node");
}

/// A link with its kind, or with its bandwidth and its latency.
Result<Link> readLink(const YamlMap &map, LinkPlace place) {
  if (!map.find("kind"))
    for (std::string_view key : {"bandwidth", "latency"})
      SYNCLINE_TRY(map.require(key));
  Link link;
  Status s = readOver(map, place, link);
  return s ? Result<Link>(link) : s;
}

/// Reads the servers' link. Servers on the ranks use the ranks' link; dedicated servers use the
/// network's unless the file states one.
Status readServersLink(const YamlMap &map, const std::optional<Link> &network, Servers &servers) {
  if (!servers.dedicated) {
    for (std::string_view key : {"bandwidth", "latency", "reduce-rate"})
      if (const auto value = map.find(key))
        return value->error("expected none, for servers that are not dedicated share their ranks' "
                            "'network'");
    if (!network)
      return map.self().error("expected a 'network', which servers that are not dedicated share, "
                              "got none");
  } else if (!network && (!map.find("bandwidth") || !map.find("latency"))) {
    return map.self().error("expected a 'network', or 'bandwidth' and 'latency' here, got neither");
  }
  servers.link = network.value_or(Link{});
  return readLinkKeys(map, servers.link);
}

/// The nodes of one override, ascending. `taken` has those of the overrides before it, with where
/// they stand.
Result<std::vector<std::int64_t>> readNodes(const YamlValue &value, std::int64_t count,
                                            std::map<std::int64_t, std::size_t> &taken,
                                            std::size_t override) {
  SYNCLINE_TRY_GET(written, value.list("a list of nodes such as [0, 3]"));
  if (written->empty())
    return value.error("expected at least one node, got an empty list");
  std::vector<std::int64_t> nodes;
  for (const YamlValue &one : *written) {
    SYNCLINE_TRY_GET(node, readIndex(one, "a node", count));
    const auto [before, isNew] = taken.try_emplace(*node, override);
    if (!isNew)
      return one.error("node " + std::to_string(*node) + " is given twice, first in 'overrides[" +
                       std::to_string(before->second) + "]'");
    nodes.push_back(*node);
  }
  std::ranges::sort(nodes);
  return nodes;
}

Status readSlowdown(const YamlValue &device, NodeOverride &change) {
  SYNCLINE_TRY_GET(map, YamlMap::open(device, overriddenDeviceKeys));
  SYNCLINE_TRY_GET(value, map->require("slowdown"));
  Result<double> factor = readFactor(*value);
  if (factor)
    change.slowdown = *factor;
  return factor.status();
}

/// Reads the network's link, with the values of `value` in place of its own.
Status readOverriddenLink(const YamlValue &value, const ClusterFile &cluster,
                          NodeOverride &change) {
  SYNCLINE_TRY_GET(map, YamlMap::open(value, linkKeys));
  if (!cluster.network)
    return value.error("expected a 'network' of the cluster to stand in for, got none");
  if (std::ranges::none_of(linkKeys, [&](auto key) { return map->find(key).has_value(); }))
    return value.error("expected at least one of " + quotedList(linkKeys) + ", got none");
  SYNCLINE_TRY(checkCards(*map, cluster.cardsPerNode));
  change.network = cluster.network;
  return readOver(*map, LinkPlace::betweenNodes, *change.network);
}

} // namespace

Result<std::optional<std::string>> readKind(const YamlMap &map, std::string_view what,
                                            std::span<const std::string_view> kinds) {
  const auto value = map.find("kind");
  if (!value)
    return std::optional<std::string>();
  SYNCLINE_TRY_GET(name, value->scalar("a kind of " + std::string(what)));
  if (std::ranges::find(kinds, *name) == kinds.end())
    return value->error("unknown kind of " + std::string(what) + " '" + name->substr(0, 60) + "'" +
                        suggestion(*name, kinds));
  return std::optional(*name);
}

Status readNetwork(const YamlMap &root, ClusterFile &cluster) {
  const auto value = root.find("network");
  if (!value)
    return Status::ok();
  SYNCLINE_TRY_GET(map, YamlMap::open(*value, networkKeys));
  SYNCLINE_TRY_GET(link, readLink(*map, LinkPlace::betweenNodes));
  cluster.network = *link;
  if (const auto cards = map->find("cards")) {
    SYNCLINE_TRY_GET(count, readCount(*cards, "network cards", maxCards));
    cluster.cardsPerNode = *count;
  }
  SYNCLINE_TRY(checkCards(*map, cluster.cardsPerNode));
  if (const auto duplex = map->find("duplex")) {
    SYNCLINE_TRY_GET(choice, readChoice(*duplex, "duplex", duplexNames));
    cluster.halfDuplex = *choice == 1;
  }
  return Status::ok();
}

Status readInside(const YamlMap &root, ClusterFile &cluster) {
  const auto value = root.find("inside");
  if (!value)
    return Status::ok();
  SYNCLINE_TRY_GET(map, YamlMap::open(*value, linkKeys));
  if (!root.find("devices-per-node"))
    return value->error("expected 'devices-per-node' beside it, got none");
  if (!cluster.network)
    return value->error("expected a 'network' between the nodes beside it, got none");
  SYNCLINE_TRY_GET(link, readLink(*map, LinkPlace::insideNode));
  cluster.inside = *link;
  return Status::ok();
}

Status readServers(const YamlMap &root, ClusterFile &cluster) {
  const auto value = root.find("servers");
  if (!value)
    return Status::ok();
  SYNCLINE_TRY_GET(map, YamlMap::open(*value, serversKeys));
  SYNCLINE_TRY_GET(countValue, map->require("count"));
  SYNCLINE_TRY_GET(dedicatedValue, map->require("dedicated"));
  SYNCLINE_TRY_GET(count, readCount(*countValue, "servers", maxRanks));
  SYNCLINE_TRY_GET(dedicated, readYesNo(*dedicatedValue));
  if (!*dedicated && *count > cluster.ranks)
    return countValue->error(
        "expected at most one server a rank, for they are not dedicated, got " +
        std::to_string(*count) + " servers for " + std::to_string(cluster.ranks) + " ranks");
  Servers servers{*count, *dedicated, {}, std::nullopt};
  SYNCLINE_TRY(readServersLink(*map, cluster.network, servers));
  SYNCLINE_TRY(readSize(*map, "memory", servers.memory));
  cluster.servers = servers;
  return Status::ok();
}

Status readOverrides(const YamlMap &root, ClusterFile &cluster) {
  const auto value = root.find("overrides");
  if (!value)
    return Status::ok();
  SYNCLINE_TRY_GET(list, value->list("a list of maps with the keys " + quotedList(overrideKeys)));
  std::map<std::int64_t, std::size_t> taken;
  for (std::size_t i = 0; i < list->size(); ++i) {
    SYNCLINE_TRY_GET(map, YamlMap::open((*list)[i], overrideKeys));
    SYNCLINE_TRY_GET(nodesValue, map->require("nodes"));
    SYNCLINE_TRY_GET(nodes, readNodes(*nodesValue, cluster.nodes(), taken, i));
    NodeOverride change{.nodes = std::move(*nodes), .network = std::nullopt};
    const auto device = map->find("device"), network = map->find("network");
    if (!device && !network)
      return (*list)[i].error("expected 'device' or 'network', got neither");
    if (device)
      SYNCLINE_TRY(readSlowdown(*device, change));
    if (network)
      SYNCLINE_TRY(readOverriddenLink(*network, cluster, change));
    cluster.overrides.push_back(std::move(change));
  }
  return Status::ok();
}

} // namespace syncline::files
