// A cluster file: how many ranks train, how fast each computes and how fast they talk. See
// README.md for every key.
#pragma once

#include "syncline/Scheme.h"
#include "syncline/Status.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace syncline::files {

/// How fast a GPU's kernels are, by the numbers of DeviceTable.h.
struct KernelRates {
  std::string like; ///< whose kernels: pytorch, pytorch-nchw, compiled or best
  std::map<std::string, double> numbers;
};

/// The device of one rank. Where a rate is absent, a profile must give the times.
struct DeviceRates {
  std::optional<double> compute;           ///< FLOP/s, > 0
  std::optional<double> memory;            ///< bytes/s, > 0
  double launchOverhead = 0;               ///< seconds per operation, >= 0
  double efficiency = 1;                   ///< share of both rates that kernels reach, above 0 to 1
  std::string kind = {};                   ///< whose data sheet the rates are; empty: none's
  std::optional<std::int64_t> memorySize;  ///< bytes, >= 1
  bool statesRates = false;                ///< the file itself states `compute` or `memory`
  std::optional<KernelRates> kernels = {}; ///< replaces the roofline by the rates above
};

/// What NCCL's messages meet on a kind of link: for each protocol the seconds of a message, and the
/// share of the link's bandwidth that long messages reach.
struct Protocols {
  double latency = 0; ///< of the kind; where a link states another, seconds are in proportion
  double ll = 0, llShare = 0, ll128 = 0, ll128Share = 0, simple = 0, simpleShare = 0;
  std::optional<double> inSwitch, inSwitchShare; ///< of sums in the switch, where it has them
};

/// A link, over which messages travel.
struct Link {
  double bandwidth = 0;                    ///< bytes/s each way, > 0
  double latency = 0;                      ///< seconds per message (alpha), >= 0
  double secondsPerReduce = 0;             ///< seconds per byte reduced (gamma), >= 0
  std::optional<Protocols> protocols = {}; ///< of its kind
};

/// Parameter servers.
struct Servers {
  std::int64_t count = 1; ///< >= 1; at most the ranks where they are not dedicated
  bool dedicated = false; ///< machines of their own; otherwise beside the first `count` ranks
  Link link;              ///< of each server
  std::optional<std::int64_t> memory; ///< bytes that each can hold, >= 1
};

/// Time by the formula of a scheme up to reduceScatter: seconds per message, per byte sent, per
/// byte reduced.
struct FormulaCost {
  Scheme algorithm = Scheme::ring;
  double alpha = 0, beta = 0, gamma = 0;
};

/// Time by a fitted line: a + b * bytes.
struct AffineCost {
  double a = 0; ///< seconds
  double b = 0; ///< seconds per byte
};

/// Time by measured points, linear between them. Sizes strictly ascending, at least one point.
struct TableCost {
  struct Point {
    std::int64_t bytes = 0;
    double seconds = 0;
  };
  std::vector<Point> points;
};

using CollectiveTime = std::variant<FormulaCost, AffineCost, TableCost>;

/// With a larger factor a machine would practically not compute beside messages.
inline constexpr double maxInterference = 1000;

/// Factors on the time of operations beside messages by class of operation, each from 1 to
/// maxInterference. A class without one has the factor of all operations.
struct ClassFactors {
  std::optional<double> products; ///< convolutions, products of matrices, recurrent layers
  std::optional<double> memory;   ///< all other operations, which live on the memory's bandwidth
};

/// The stated time of one message of all ranks by one scheme. For factors it is a function of the
/// bytes that one rank contributes to an all-gather.
struct StatedCost {
  Scheme scheme = Scheme::ring;
  CollectiveTime time;
  std::optional<double> interference = {}; ///< operations beside it: times as long, >= 1
  ClassFactors interferenceBy = {};        ///< that by class of operation
};

/// Values that differ on some nodes.
struct NodeOverride {
  std::vector<std::int64_t> nodes; ///< ascending, from 0, at least one
  double slowdown = 1;             ///< operations take so many times as long, > 0
  std::optional<Link> network;     ///< replaces the cluster's network
};

struct ClusterFile {
  std::string name;
  std::int64_t ranks = 1;          ///< 1 to 1,048,576
  std::int64_t devicesPerNode = 1; ///< of this cluster's ranks, divides them
  std::int64_t groups = 1; ///< of ranks that use the cards at once; this cluster is one of them
  DeviceRates device;
  std::int64_t cardsPerNode = 1;              ///< network cards, each with the network's link
  std::optional<Link> network;                ///< absent only where `collectives` gives times
  std::optional<Link> inside;                 ///< between the devices of a node; beside `network`
  bool halfDuplex = false;                    ///< the network carries one direction at a time
  double interference = 1;                    ///< beside messages of other schemes, likewise
  ClassFactors interferenceBy;                ///< that by class of operation
  std::optional<double> latencyInterference;  ///< as that, during a message's latency
  std::optional<double> messageInterference;  ///< two messages at once: times as long each, >= 1
  std::vector<StatedCost> collectives;        ///< in the order of Scheme, each at most once
  std::optional<Servers> servers;             ///< absent: one beside every rank
  std::optional<std::int64_t> largestMessage; ///< bytes, >= 1
  std::vector<NodeOverride> overrides;        ///< no node twice
  /// Messages take so many times their cost, each number as often as any other: 1 to 1024 numbers
  /// from 1e-6 to 1e6. Empty: always their cost.
  std::vector<double> messageScatter;

  std::int64_t nodes() const { return ranks / devicesPerNode; }
};

/// Parses the text of a cluster file; `fileName` is what errors call it. Every failure is badInput
/// with file, line, column and key.
Result<ClusterFile> parseClusterFile(std::string_view text, std::string_view fileName);

/// Reads and parses `path`, which may hold at most 4 MiB.
Result<ClusterFile> readClusterFile(const std::string &path);

} // namespace syncline::files
