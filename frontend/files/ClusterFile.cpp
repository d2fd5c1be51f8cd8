// Reads a cluster file from YAML and checks it key by key.
#include "frontend/files/ClusterFile.h"

#include "frontend/files/ClusterCollectives.h"
#include "frontend/files/ClusterInterference.h"
#include "frontend/files/ClusterKinds.h"
#include "frontend/files/ClusterLinks.h"
#include "frontend/files/TextFile.h"
#include "frontend/files/Units.h"
#include "frontend/files/YamlQuantity.h"

#include <algorithm>
#include <array>

namespace syncline::files {
namespace {

constexpr std::size_t maxClusterBytes = 4u << 20;
constexpr std::size_t maxMessageFactors = 1024;

constexpr std::array<std::string_view, 14> clusterKeys = {
    "name",         "ranks",           "nodes",       "devices-per-node", "groups",
    "device",       "network",         "inside",      "servers",          "limits",
    "interference", "message-scatter", "collectives", "overrides"};
constexpr std::array<std::string_view, 6> deviceKeys = {
    "kind", "compute", "memory", "memory-size", "launch-overhead", "efficiency"};
constexpr std::array<std::string_view, 1> limitKeys = {"message"};

/// Groups into which a node's devices fall; the cluster is one of them.
Status readGroups(const YamlMap &map, ClusterFile &cluster) {
  const auto value = map.find("groups");
  if (!value)
    return Status::ok();
  if (!map.find("devices-per-node"))
    return value->error("expected 'devices-per-node' beside it, got none");
  SYNCLINE_TRY_GET(groups, readCount(*value, "groups", maxRanks));
  if (cluster.devicesPerNode % *groups != 0)
    return value->error("expected groups that divide the " +
                        std::to_string(cluster.devicesPerNode) + " devices of a node, got " +
                        std::to_string(*groups));
  cluster.groups = *groups;
  cluster.devicesPerNode /= *groups;
  return Status::ok();
}

/// 'ranks', or 'nodes' times 'devices-per-node' (1 when absent).
Status readRanks(const YamlMap &map, ClusterFile &cluster) {
  const auto ranks = map.find("ranks"), nodes = map.find("nodes"),
             devices = map.find("devices-per-node");
  if (ranks && (nodes || devices))
    return (nodes ? *nodes : *devices)
        .error("expected either 'ranks' or 'nodes' with 'devices-per-node', got both");
  if (!ranks && !nodes)
    return map.self().error("expected the key 'ranks' or 'nodes', got none");
  SYNCLINE_TRY_GET(count, ranks ? readCount(*ranks, "ranks", maxRanks)
                                : readCount(*nodes, "nodes", maxRanks));
  if (devices) {
    SYNCLINE_TRY_GET(each, readCount(*devices, "devices", maxRanks));
    cluster.devicesPerNode = *each;
  }
  SYNCLINE_TRY(readGroups(map, cluster));
  cluster.ranks = *count * cluster.devicesPerNode;
  if (cluster.ranks > maxRanks)
    return devices->error("expected at most " + std::to_string(maxRanks) + " ranks in all, got " +
                          std::to_string(cluster.ranks));
  return Status::ok();
}

/// The share of its rates that a device's kernels reach; without rates it would say nothing.
Status readEfficiency(const YamlMap &map, DeviceRates &device) {
  const auto value = map.find("efficiency");
  if (!value)
    return Status::ok();
  SYNCLINE_TRY_GET(share, readShare(*value));
  if (!device.compute && !device.memory)
    return value->error("expected a 'kind', a 'compute' or a 'memory' rate beside it, got none");
  device.efficiency = *share;
  return Status::ok();
}

/// Reads the device: its kind's rates, where it names a kind, then its own keys, which
/// replace them.
Status readDevice(const YamlMap &root, DeviceRates &device) {
  const auto value = root.find("device");
  if (!value)
    return Status::ok();
  SYNCLINE_TRY_GET(map, YamlMap::open(*value, deviceKeys));
  SYNCLINE_TRY_GET(kind, readKind(*map, "device", deviceKinds()));
  if (*kind) {
    device = *deviceKind(**kind);
    device.kind = **kind;
  }
  SYNCLINE_TRY(readOptional(*map, "compute", "a compute rate", parseComputeRate, device.compute));
  SYNCLINE_TRY(readOptional(*map, "memory", "a data rate", parseByteRate, device.memory));
  device.statesRates = map->find("compute") || map->find("memory");
  SYNCLINE_TRY(readSize(*map, "memory-size", device.memorySize));
  SYNCLINE_TRY(
      readOptional(*map, "launch-overhead", "a time", parseSeconds, device.launchOverhead));
  return readEfficiency(*map, device);
}

Status readLimits(const YamlMap &root, ClusterFile &cluster) {
  const auto value = root.find("limits");
  if (!value)
    return Status::ok();
  Result<YamlMap> map = YamlMap::open(*value, limitKeys);
  return map ? readSize(*map, "message", cluster.largestMessage) : map.status();
}

Status readMessageScatter(const YamlMap &root, ClusterFile &cluster) {
  const auto value = root.find("message-scatter");
  if (!value)
    return Status::ok();
  SYNCLINE_TRY_GET(factors, value->list("a list of numbers such as [0.98, 1, 1.3]"));
  if (factors->empty() || factors->size() > maxMessageFactors)
    return value->error("expected 1 to " + std::to_string(maxMessageFactors) + " numbers, got " +
                        std::to_string(factors->size()));
  for (const YamlValue &factor : *factors) {
    SYNCLINE_TRY_GET(times, readFactor(factor));
    cluster.messageScatter.push_back(*times);
  }
  return Status::ok();
}

/// Reads 'collectives'; refuses a file by which no scheme for every gradient has a cost.
Status readCosts(const YamlMap &map, ClusterFile &cluster) {
  if (const auto value = map.find("collectives")) {
    SYNCLINE_TRY_GET(collectives, readCollectives(*value, cluster.network));
    cluster.collectives = std::move(*collectives);
  }
  if (!cluster.network && std::ranges::all_of(cluster.collectives, [](const StatedCost &cost) {
        return cost.scheme == Scheme::factors; // not every gradient has factors
      }))
    return map.self().error("expected a 'network' or the time of 'collectives.all-reduce', got "
                            "neither");
  return Status::ok();
}

/// Reads all keys, each after those that it refers to.
Status readCluster(const YamlMap &map, ClusterFile &cluster) {
  SYNCLINE_TRY_GET(name, readText(map, "name", "a name"));
  cluster.name = *name;
  SYNCLINE_TRY(readRanks(map, cluster));
  SYNCLINE_TRY(readDevice(map, cluster.device));
  for (auto read : {readNetwork, readInside, readServers, readOverrides, readLimits,
                    readInterference, readMessageScatter, readCosts})
    SYNCLINE_TRY(read(map, cluster));
  return Status::ok();
}

} // namespace

Result<ClusterFile> parseClusterFile(std::string_view text, std::string_view fileName) {
  SYNCLINE_TRY_GET(map, openYaml(text, fileName, clusterKeys));
  ClusterFile cluster;
  Status s = readCluster(*map, cluster);
  return s ? Result<ClusterFile>(std::move(cluster)) : s;
}

Result<ClusterFile> readClusterFile(const std::string &path) {
  Result<std::string> text = readTextFile(path, maxClusterBytes);
  return text ? parseClusterFile(*text, path) : Result<ClusterFile>(text.status());
}

} // namespace syncline::files
