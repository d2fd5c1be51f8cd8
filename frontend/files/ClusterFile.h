// A cluster file: how many ranks train, how fast each computes and how fast they talk. See
// README.md for every key.
#pragma once

#include "syncline/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace syncline::files {

/// What one rank computes with. A rate that is absent can be used only where a profile gives times.
struct DeviceRates {
  std::optional<double> compute; ///< FLOP/s, > 0
  std::optional<double> memory;  ///< bytes/s, > 0
  double launchOverhead = 0;     ///< seconds per operation, >= 0
};

/// The link of one rank, full duplex.
struct Network {
  double bandwidth = 0;        ///< bytes/s each way, > 0
  double latency = 0;          ///< seconds per message (alpha), >= 0
  double secondsPerReduce = 0; ///< seconds per byte reduced (gamma), >= 0
};

/// Algorithms whose time follows from alpha, beta, gamma and the number of ranks.
enum class AllReduceAlgorithm { ring, recursiveDoubling, halvingDoubling, tree };

/// Time by a formula: seconds per message, per byte sent, per byte reduced.
struct FormulaCost {
  AllReduceAlgorithm algorithm = AllReduceAlgorithm::ring;
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

struct ClusterFile {
  std::string name;
  std::int64_t ranks = 1; ///< 1 to 1,048,576
  DeviceRates device;
  std::optional<Network> network; ///< absent where the collectives give their own times
  CollectiveTime allReduce;       ///< of one message of all ranks
};

/// Parses the text of a cluster file; `fileName` is what errors call it. Every failure is badInput
/// with file, line, column and key.
Result<ClusterFile> parseClusterFile(std::string_view text, std::string_view fileName);

/// Reads and parses `path`, which may hold at most 4 MiB.
Result<ClusterFile> readClusterFile(const std::string &path);

/// 'ring', 'recursive-doubling', ...: as in the file.
std::string_view name(AllReduceAlgorithm algorithm);

} // namespace syncline::files
