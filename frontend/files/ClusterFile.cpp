// Cluster file: YAML to struct, checked key by key.
#include "frontend/files/ClusterFile.h"

#include "frontend/files/ClusterCollectives.h"
#include "frontend/files/TextFile.h"
#include "frontend/files/Units.h"
#include "frontend/files/YamlQuantity.h"

#include <algorithm>
#include <array>

namespace syncline::files {
namespace {

constexpr std::size_t kMaxFileBytes = 4u << 20;
/// Formulas are evaluated in doubles and plans list ranks: a million is far beyond any cluster.
constexpr std::int64_t kMaxRanks = 1 << 20;

constexpr std::array<std::string_view, 10> kClusterKeys = {
    "name",    "ranks",  "nodes",   "devices-per-node", "device",
    "network", "inside", "servers", "limits",           "collectives"};
constexpr std::array<std::string_view, 3> kDeviceKeys = {"compute", "memory", "launch-overhead"};
constexpr std::array<std::string_view, 4> kNetworkKeys = {"bandwidth", "latency", "reduce-rate",
                                                          "duplex"};
constexpr std::array<std::string_view, 3> kLinkKeys = {"bandwidth", "latency", "reduce-rate"};
constexpr std::array<std::string_view, 6> kServersKeys = {"count",   "dedicated",   "bandwidth",
                                                          "latency", "reduce-rate", "memory"};
constexpr std::array<std::string_view, 1> kLimitKeys = {"message"};
constexpr std::array<std::string_view, 2> kDuplexNames = {"full", "half"};

/// 'ranks', or 'nodes' times 'devices-per-node' (1 when absent).
Status readRanks(const YamlMap &map, ClusterFile &cluster) {
  const auto ranks = map.find("ranks"), nodes = map.find("nodes"),
             devices = map.find("devices-per-node");
  if (ranks && (nodes || devices))
    return (nodes ? *nodes : *devices)
        .error("expected either 'ranks' or 'nodes' with 'devices-per-node', got both");
  if (!ranks && !nodes)
    return map.self().error("expected the key 'ranks' or 'nodes', got none");
  Result<std::int64_t> count =
      ranks ? readCount(*ranks, "ranks", kMaxRanks) : readCount(*nodes, "nodes", kMaxRanks);
  if (!count)
    return count.status();
  if (devices) {
    Result<std::int64_t> each = readCount(*devices, "devices", kMaxRanks);
    if (!each)
      return each.status();
    cluster.devicesPerNode = *each;
  }
  cluster.ranks = *count * cluster.devicesPerNode;
  if (cluster.ranks > kMaxRanks)
    return devices->error("expected at most " + std::to_string(kMaxRanks) + " ranks in all, got " +
                          std::to_string(cluster.ranks));
  return Status::ok();
}

Status readDevice(const YamlValue &value, DeviceRates &device) {
  Result<YamlMap> map = YamlMap::open(value, kDeviceKeys);
  if (!map)
    return map.status();
  if (Status s = readOptional(*map, "compute", "a compute rate", parseComputeRate, device.compute);
      !s)
    return s;
  if (Status s = readOptional(*map, "memory", "a data rate", parseByteRate, device.memory); !s)
    return s;
  return readOptional(*map, "launch-overhead", "a time", parseSeconds, device.launchOverhead);
}

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

/// A link with its bandwidth and its latency.
Result<Link> readLink(const YamlMap &map) {
  for (std::string_view key : {"bandwidth", "latency"})
    if (Result<YamlValue> value = map.require(key); !value)
      return value.status();
  Link link;
  Status s = readLinkKeys(map, link);
  return s ? Result<Link>(link) : s;
}

Status readNetwork(const YamlValue &value, ClusterFile &cluster) {
  Result<YamlMap> map = YamlMap::open(value, kNetworkKeys);
  if (!map)
    return map.status();
  Result<Link> link = readLink(*map);
  if (!link)
    return link.status();
  cluster.network = *link;
  if (const auto duplex = map->find("duplex")) {
    Result<std::size_t> choice = readChoice(*duplex, "duplex", kDuplexNames);
    if (!choice)
      return choice.status();
    cluster.halfDuplex = *choice == 1;
  }
  return Status::ok();
}

/// What joins the devices of a node, which there must be several of.
Status readInside(const YamlMap &root, const YamlValue &value, ClusterFile &cluster) {
  Result<YamlMap> map = YamlMap::open(value, kLinkKeys);
  if (!map)
    return map.status();
  if (!root.find("devices-per-node"))
    return value.error("expected 'devices-per-node' beside it, got none");
  if (!cluster.network)
    return value.error("expected a 'network' between the nodes beside it, got none");
  Result<Link> link = readLink(*map);
  if (!link)
    return link.status();
  cluster.inside = *link;
  return Status::ok();
}

/// The servers' link: the ranks' own where they are colocated, otherwise the network's unless
/// stated.
Status readServersLink(const YamlMap &map, const std::optional<Link> &network, Servers &servers) {
  if (!servers.dedicated) {
    for (std::string_view key : kLinkKeys)
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

Status readServers(const YamlValue &value, ClusterFile &cluster) {
  Result<YamlMap> map = YamlMap::open(value, kServersKeys);
  if (!map)
    return map.status();
  Result<YamlValue> countValue = map->require("count");
  if (!countValue)
    return countValue.status();
  Result<YamlValue> dedicatedValue = map->require("dedicated");
  if (!dedicatedValue)
    return dedicatedValue.status();
  Result<std::int64_t> count = readCount(*countValue, "servers", kMaxRanks);
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

Status readLimits(const YamlValue &value, ClusterFile &cluster) {
  Result<YamlMap> map = YamlMap::open(value, kLimitKeys);
  return map ? readSize(*map, "message", cluster.largestMessage) : map.status();
}

/// What 'collectives' states; something must tell what it costs to synchronise any gradient.
Status readCosts(const YamlMap &map, ClusterFile &cluster) {
  if (const auto value = map.find("collectives")) {
    Result<std::vector<StatedCost>> collectives = readCollectives(*value, cluster.network);
    if (!collectives)
      return collectives.status();
    cluster.collectives = std::move(*collectives);
  }
  if (!cluster.network && std::ranges::all_of(cluster.collectives, [](const StatedCost &cost) {
        return cost.scheme == Scheme::factors; // not every gradient has factors
      }))
    return map.self().error("expected a 'network' or the time of 'collectives.all-reduce', got "
                            "neither");
  return Status::ok();
}

Status readName(const YamlMap &map, ClusterFile &cluster) {
  Result<YamlValue> value = map.require("name");
  if (!value)
    return value.status();
  Result<std::string> text = value->scalar("a name");
  if (!text)
    return text.status();
  if (text->empty())
    return value->error("expected a name, got nothing");
  cluster.name = *text;
  return Status::ok();
}

/// Keys in an order in which each finds what it refers to.
Status readCluster(const YamlMap &map, ClusterFile &cluster) {
  if (Status s = readName(map, cluster); !s)
    return s;
  if (Status s = readRanks(map, cluster); !s)
    return s;
  if (const auto device = map.find("device"))
    if (Status s = readDevice(*device, cluster.device); !s)
      return s;
  if (const auto network = map.find("network"))
    if (Status s = readNetwork(*network, cluster); !s)
      return s;
  if (const auto inside = map.find("inside"))
    if (Status s = readInside(map, *inside, cluster); !s)
      return s;
  if (const auto servers = map.find("servers"))
    if (Status s = readServers(*servers, cluster); !s)
      return s;
  if (const auto limits = map.find("limits"))
    if (Status s = readLimits(*limits, cluster); !s)
      return s;
  return readCosts(map, cluster);
}

} // namespace

Result<ClusterFile> parseClusterFile(std::string_view text, std::string_view fileName) {
  Result<std::string_view> checked = checkText(text, fileName);
  if (!checked)
    return checked.status();
  Result<YamlValue> root = parseYaml(*checked, fileName);
  if (!root)
    return root.status();
  Result<YamlMap> map = YamlMap::open(*root, kClusterKeys);
  if (!map)
    return map.status();
  ClusterFile cluster;
  Status s = readCluster(*map, cluster);
  return s ? Result<ClusterFile>(std::move(cluster)) : s;
}

Result<ClusterFile> readClusterFile(const std::string &path) {
  Result<std::string> text = readTextFile(path, kMaxFileBytes);
  return text ? parseClusterFile(*text, path) : Result<ClusterFile>(text.status());
}

} // namespace syncline::files
