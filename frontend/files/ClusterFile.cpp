// Cluster file: YAML to struct, checked key by key.
#include "frontend/files/ClusterFile.h"

#include "frontend/files/TextFile.h"
#include "frontend/files/Units.h"
#include "frontend/files/YamlMap.h"

#include <algorithm>
#include <array>

namespace syncline::files {
namespace {

constexpr std::size_t kMaxFileBytes = 4u << 20;
/// Formulas are evaluated in doubles and plans list ranks: a million is far beyond any cluster.
constexpr std::int64_t kMaxRanks = 1 << 20;

constexpr std::array<std::string_view, 7> kClusterKeys = {
    "name", "ranks", "nodes", "devices-per-node", "device", "network", "collectives"};
constexpr std::array<std::string_view, 3> kDeviceKeys = {"compute", "memory", "launch-overhead"};
constexpr std::array<std::string_view, 3> kNetworkKeys = {"bandwidth", "latency", "reduce-rate"};
constexpr std::array<std::string_view, 1> kCollectiveKeys = {"all-reduce"};
constexpr std::array<std::string_view, 7> kCostKeys = {"formula", "alpha", "beta", "gamma",
                                                       "a",       "b",     "table"};
/// In the order of AllReduceAlgorithm.
constexpr std::array<std::string_view, 4> kAlgorithmNames = {"ring", "recursive-doubling",
                                                             "halving-doubling", "tree"};

/// Reads a scalar with one of the parsers of Units.h and puts the position before its error.
template <typename T>
Result<T> quantity(const YamlValue &value, std::string_view wanted,
                   Result<T> (*parse)(std::string_view)) {
  Result<std::string> text = value.scalar(wanted);
  if (!text)
    return text.status();
  Result<T> parsed = parse(*text);
  if (!parsed)
    return value.error(parsed.status().message());
  return parsed;
}

/// Sets `target` from `key` where the map has it.
template <typename Target>
Status readOptional(const YamlMap &map, std::string_view key, std::string_view wanted,
                    Result<double> (*parse)(std::string_view), Target &target) {
  const std::optional<YamlValue> value = map.find(key);
  if (!value)
    return Status::ok();
  Result<double> parsed = quantity(*value, wanted, parse);
  if (parsed)
    target = *parsed;
  return parsed.status();
}

/// Sets `target` from `key`, which the map must have.
Status readRequired(const YamlMap &map, std::string_view key, std::string_view wanted,
                    Result<double> (*parse)(std::string_view), double &target) {
  Result<YamlValue> value = map.require(key);
  return value ? readOptional(map, key, wanted, parse, target) : value.status();
}

Result<std::int64_t> readCount(const YamlValue &value, std::string_view what) {
  Result<std::string> text = value.scalar("a whole number of " + std::string(what));
  if (!text)
    return text.status();
  Result<std::int64_t> count = parseCount(*text, what, kMaxRanks);
  return count ? count : value.error(count.status().message());
}

/// 'ranks', or 'nodes' times 'devices-per-node' (1 when absent).
Result<std::int64_t> readRanks(const YamlMap &map) {
  const auto ranks = map.find("ranks"), nodes = map.find("nodes"),
             devices = map.find("devices-per-node");
  if (ranks) {
    if (nodes || devices)
      return (nodes ? *nodes : *devices)
          .error("expected either 'ranks' or 'nodes' with 'devices-per-node', got both");
    return readCount(*ranks, "ranks");
  }
  if (!nodes)
    return map.self().error("expected the key 'ranks' or 'nodes', got none");
  Result<std::int64_t> product = readCount(*nodes, "nodes");
  if (!product || !devices)
    return product;
  Result<std::int64_t> each = readCount(*devices, "devices");
  if (!each)
    return each;
  if (*product * *each > kMaxRanks)
    return devices->error("expected at most " + std::to_string(kMaxRanks) + " ranks in all, got " +
                          std::to_string(*product * *each));
  return *product * *each;
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

Status readNetwork(const YamlValue &value, std::optional<Network> &network) {
  Result<YamlMap> map = YamlMap::open(value, kNetworkKeys);
  if (!map)
    return map.status();
  Network read;
  if (Status s = readRequired(*map, "bandwidth", "a data rate", parseByteRate, read.bandwidth); !s)
    return s;
  if (Status s = readRequired(*map, "latency", "a time", parseSeconds, read.latency); !s)
    return s;
  std::optional<double> reduceRate;
  if (Status s = readOptional(*map, "reduce-rate", "a data rate", parseByteRate, reduceRate); !s)
    return s;
  read.secondsPerReduce = reduceRate ? 1 / *reduceRate : 0;
  network = read;
  return Status::ok();
}

/// The algorithm `value` names, with the network's constants unless alpha, beta, gamma replace
/// them.
Status readFormula(const YamlMap &map, const YamlValue &value,
                   const std::optional<Network> &network, CollectiveTime &time) {
  Result<std::string> text = value.scalar("the name of an algorithm");
  if (!text)
    return text.status();
  const auto found = std::find(kAlgorithmNames.begin(), kAlgorithmNames.end(), *text);
  if (found == kAlgorithmNames.end())
    return value.error("unknown formula '" + text->substr(0, 60) + "'" +
                       suggestion(*text, kAlgorithmNames));
  FormulaCost cost;
  cost.algorithm = static_cast<AllReduceAlgorithm>(found - kAlgorithmNames.begin());
  if (network)
    cost = {cost.algorithm, network->latency, 1 / network->bandwidth, network->secondsPerReduce};
  else if (!map.find("alpha") || !map.find("beta"))
    return value.error("expected a 'network', or 'alpha' and 'beta' here, got neither");
  if (Status s = readOptional(map, "alpha", "a time", parseSeconds, cost.alpha); !s)
    return s;
  if (Status s = readOptional(map, "beta", "a time per byte", parseSecondsPerByte, cost.beta); !s)
    return s;
  if (Status s = readOptional(map, "gamma", "a time per byte", parseSecondsPerByte, cost.gamma); !s)
    return s;
  time = cost;
  return Status::ok();
}

Status readLine(const YamlMap &map, CollectiveTime &time) {
  AffineCost cost;
  if (Status s = readRequired(map, "a", "a time", parseSeconds, cost.a); !s)
    return s;
  if (Status s = readRequired(map, "b", "a time per byte", parseSecondsPerByte, cost.b); !s)
    return s;
  time = cost;
  return Status::ok();
}

Status readTable(const YamlValue &value, CollectiveTime &time) {
  constexpr std::string_view wanted = "a list of points such as [4KiB, 0.1ms]";
  Result<std::vector<YamlValue>> points = value.list(wanted);
  if (!points)
    return points.status();
  if (points->empty())
    return value.error("expected at least one point, got an empty list");
  TableCost cost;
  for (const YamlValue &point : *points) {
    Result<std::vector<YamlValue>> pair = point.list("a point such as [4KiB, 0.1ms]");
    if (!pair)
      return pair.status();
    if (pair->size() != 2)
      return point.error("expected a size and a time, got " + std::to_string(pair->size()) +
                         " values");
    Result<std::int64_t> bytes = quantity((*pair)[0], "a size", parseBytes);
    if (!bytes)
      return bytes.status();
    Result<double> seconds = quantity((*pair)[1], "a time", parseSeconds);
    if (!seconds)
      return seconds.status();
    if (!cost.points.empty() && *bytes <= cost.points.back().bytes)
      return (*pair)[0].error("expected sizes in ascending order, got " + std::to_string(*bytes) +
                              " B after " + std::to_string(cost.points.back().bytes) + " B");
    cost.points.push_back({*bytes, *seconds});
  }
  time = std::move(cost);
  return Status::ok();
}

/// One of 'formula', 'a' with 'b', 'table'; keys of another form beside it are refused.
Status readCollective(const YamlValue &value, const std::optional<Network> &network,
                      CollectiveTime &time) {
  Result<YamlMap> map = YamlMap::open(value, kCostKeys);
  if (!map)
    return map.status();
  const auto formula = map->find("formula"), table = map->find("table");
  const bool line = map->find("a") || map->find("b");
  const bool constants = map->find("alpha") || map->find("beta") || map->find("gamma");
  if (int(formula.has_value()) + int(table.has_value()) + int(line) != 1)
    return value.error("expected exactly one of 'formula', 'a' with 'b', or 'table'");
  if (constants && !formula)
    return value.error("expected 'alpha', 'beta' and 'gamma' only beside 'formula'");
  if (formula)
    return readFormula(*map, *formula, network, time);
  return table ? readTable(*table, time) : readLine(*map, time);
}

/// The time of an all-reduce: as 'collectives' says, otherwise the ring's over 'network'.
Status readCollectives(const YamlMap &map, ClusterFile &cluster) {
  if (const auto collectives = map.find("collectives")) {
    Result<YamlMap> times = YamlMap::open(*collectives, kCollectiveKeys);
    if (!times)
      return times.status();
    if (const auto allReduce = times->find("all-reduce"))
      return readCollective(*allReduce, cluster.network, cluster.allReduce);
  }
  if (!cluster.network)
    return map.self().error("expected a 'network' or the time of 'collectives.all-reduce', got "
                            "neither");
  const Network &network = *cluster.network;
  cluster.allReduce = FormulaCost{AllReduceAlgorithm::ring, network.latency, 1 / network.bandwidth,
                                  network.secondsPerReduce};
  return Status::ok();
}

Result<std::string> readName(const YamlMap &map) {
  Result<YamlValue> value = map.require("name");
  if (!value)
    return value.status();
  Result<std::string> text = value->scalar("a name");
  if (text && text->empty())
    return value->error("expected a name, got nothing");
  return text;
}

} // namespace

std::string_view name(AllReduceAlgorithm algorithm) {
  return kAlgorithmNames[static_cast<std::size_t>(algorithm)];
}

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
  Result<std::string> clusterName = readName(*map);
  if (!clusterName)
    return clusterName.status();
  cluster.name = *clusterName;
  Result<std::int64_t> ranks = readRanks(*map);
  if (!ranks)
    return ranks.status();
  cluster.ranks = *ranks;
  if (const auto device = map->find("device"))
    if (Status s = readDevice(*device, cluster.device); !s)
      return s;
  if (const auto network = map->find("network"))
    if (Status s = readNetwork(*network, cluster.network); !s)
      return s;
  if (Status s = readCollectives(*map, cluster); !s)
    return s;
  return cluster;
}

Result<ClusterFile> readClusterFile(const std::string &path) {
  Result<std::string> text = readTextFile(path, kMaxFileBytes);
  return text ? parseClusterFile(*text, path) : Result<ClusterFile>(text.status());
}

} // namespace syncline::files
