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
  if (Status s = readOptional(map, "bandwidth", "a data rate", parseByteRate, link.bandwidth); !s)
    return s;
  if (Status s = readOptional(map, "latency", "a time", parseSeconds, link.latency); !s)
    return s;
  std::optional<double> reduceRate;
  if (Status s = readOptional(map, "reduce-rate", "a data rate", parseByteRate, reduceRate); !s)
    return s;
  if (reduceRate)
    link.secondsPerReduce = 1 / *reduceRate;
  return Status::ok();
}

/// Sets what `map` says of a link, starting from its kind's values where it has a kind.
Status readOver(const YamlMap &map, LinkPlace place, Link &link) {
  Result<std::optional<std::string>> kind = readKind(map, "link", linkKinds(place));
  if (!kind)
    return kind.status();
  if (*kind) {
    const Link named = *linkKind(**kind, place);
    link.bandwidth = named.bandwidth;
    link.latency = named.latency;
  }
  return readLinkKeys(map, link);
}

/// A link with its kind, or with its bandwidth and its latency.
Result<Link> readLink(const YamlMap &map, LinkPlace place) {
  if (!map.find("kind"))
    for (std::string_view key : {"bandwidth", "latency"})
      if (Result<YamlValue> value = map.require(key); !value)
        return value.status();
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
  Result<std::vector<YamlValue>> written = value.list("a list of nodes such as [0, 3]");
  if (!written)
    return written.status();
  if (written->empty())
    return value.error("expected at least one node, got an empty list");
  std::vector<std::int64_t> nodes;
  for (const YamlValue &one : *written) {
    Result<std::int64_t> node = readIndex(one, "a node", count);
    if (!node)
      return node.status();
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
  Result<YamlMap> map = YamlMap::open(device, overriddenDeviceKeys);
  if (!map)
    return map.status();
  Result<YamlValue> value = map->require("slowdown");
  if (!value)
    return value.status();
  Result<double> factor = readFactor(*value);
  if (factor)
    change.slowdown = *factor;
  return factor.status();
}

/// Reads the network's link, with the values of `value` in place of its own.
Status readOverriddenLink(const YamlValue &value, const ClusterFile &cluster,
                          NodeOverride &change) {
  Result<YamlMap> map = YamlMap::open(value, linkKeys);
  if (!map)
    return map.status();
  if (!cluster.network)
    return value.error("expected a 'network' of the cluster to stand in for, got none");
  if (std::ranges::none_of(linkKeys, [&](auto key) { return map->find(key).has_value(); }))
    return value.error("expected at least one of " + quotedList(linkKeys) + ", got none");
  change.network = cluster.network;
  return readOver(*map, LinkPlace::betweenNodes, *change.network);
}

} // namespace

Result<std::optional<std::string>> readKind(const YamlMap &map, std::string_view what,
                                            std::span<const std::string_view> kinds) {
  const auto value = map.find("kind");
  if (!value)
    return std::optional<std::string>();
  Result<std::string> name = value->scalar("a kind of " + std::string(what));
  if (!name)
    return name.status();
  if (std::ranges::find(kinds, *name) == kinds.end())
    return value->error("unknown kind of " + std::string(what) + " '" + name->substr(0, 60) + "'" +
                        suggestion(*name, kinds));
  return std::optional(*name);
}

Status readNetwork(const YamlMap &root, ClusterFile &cluster) {
  const auto value = root.find("network");
  if (!value)
    return Status::ok();
  Result<YamlMap> map = YamlMap::open(*value, networkKeys);
  if (!map)
    return map.status();
  Result<Link> link = readLink(*map, LinkPlace::betweenNodes);
  if (!link)
    return link.status();
  cluster.network = *link;
  if (const auto cards = map->find("cards")) {
    Result<std::int64_t> count = readCount(*cards, "network cards", maxCards);
    if (!count)
      return count.status();
    cluster.cardsPerNode = *count;
  }
  if (const auto duplex = map->find("duplex")) {
    Result<std::size_t> choice = readChoice(*duplex, "duplex", duplexNames);
    if (!choice)
      return choice.status();
    cluster.halfDuplex = *choice == 1;
  }
  return Status::ok();
}

Status readInside(const YamlMap &root, ClusterFile &cluster) {
  const auto value = root.find("inside");
  if (!value)
    return Status::ok();
  Result<YamlMap> map = YamlMap::open(*value, linkKeys);
  if (!map)
    return map.status();
  if (!root.find("devices-per-node"))
    return value->error("expected 'devices-per-node' beside it, got none");
  if (!cluster.network)
    return value->error("expected a 'network' between the nodes beside it, got none");
  Result<Link> link = readLink(*map, LinkPlace::insideNode);
  if (!link)
    return link.status();
  cluster.inside = *link;
  return Status::ok();
}

Status readServers(const YamlMap &root, ClusterFile &cluster) {
  const auto value = root.find("servers");
  if (!value)
    return Status::ok();
  Result<YamlMap> map = YamlMap::open(*value, serversKeys);
  if (!map)
    return map.status();
  Result<YamlValue> countValue = map->require("count");
  if (!countValue)
    return countValue.status();
  Result<YamlValue> dedicatedValue = map->require("dedicated");
  if (!dedicatedValue)
    return dedicatedValue.status();
  Result<std::int64_t> count = readCount(*countValue, "servers", maxRanks);
  if (!count)
    return count.status();
  Result<bool> dedicated = readYesNo(*dedicatedValue);
  if (!dedicated)
    return dedicated.status();
  if (!*dedicated && *count > cluster.ranks)
    return countValue->error(
        "expected at most one server a rank, for they are not dedicated, got " +
        std::to_string(*count) + " servers for " + std::to_string(cluster.ranks) + " ranks");
  Servers servers{*count, *dedicated, {}, std::nullopt};
  if (Status s = readServersLink(*map, cluster.network, servers); !s)
    return s;
  if (Status s = readSize(*map, "memory", servers.memory); !s)
    return s;
  cluster.servers = servers;
  return Status::ok();
}

Status readOverrides(const YamlMap &root, ClusterFile &cluster) {
  const auto value = root.find("overrides");
  if (!value)
    return Status::ok();
  Result<std::vector<YamlValue>> list =
      value->list("a list of maps with the keys " + quotedList(overrideKeys));
  if (!list)
    return list.status();
  std::map<std::int64_t, std::size_t> taken;
  for (std::size_t i = 0; i < list->size(); ++i) {
    Result<YamlMap> map = YamlMap::open((*list)[i], overrideKeys);
    if (!map)
      return map.status();
    Result<YamlValue> nodesValue = map->require("nodes");
    if (!nodesValue)
      return nodesValue.status();
    Result<std::vector<std::int64_t>> nodes = readNodes(*nodesValue, cluster.nodes(), taken, i);
    if (!nodes)
      return nodes.status();
    NodeOverride change{.nodes = std::move(*nodes), .network = std::nullopt};
    const auto device = map->find("device"), network = map->find("network");
    if (!device && !network)
      return (*list)[i].error("expected 'device' or 'network', got neither");
    if (device)
      if (Status s = readSlowdown(*device, change); !s)
        return s;
    if (network)
      if (Status s = readOverriddenLink(*network, cluster, change); !s)
        return s;
    cluster.overrides.push_back(std::move(change));
  }
  return Status::ok();
}

} // namespace syncline::files
