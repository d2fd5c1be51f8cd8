// What a sweep changes: "bandwidth=1Gb/s..100Gb/s".
#pragma once

#include "syncline/Status.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace syncline::sweep {

/// What messages may hide behind, as in `compile --overlap`.
enum class Overlap { backward, step };

/// "backward", "step".
std::string_view overlapName(Overlap overlap);

struct SweepAxis {
  enum class Kind {
    bandwidth, ///< bytes/s of one network card; all other links change in proportion
    latency,   ///< seconds, of the network and of dedicated servers
    ranks,
    nodes,
    batch,   ///< samples per rank
    slow,    ///< how many times as long rank 0 computes
    bucket,  ///< bytes of a bucket of PyTorch's DistributedDataParallel, planner ddp:SIZE
    overlap, ///< an Overlap; always listed
    planner, ///< an index of `planners`; always listed
  };
  Kind kind = Kind::bandwidth;
  double first = 0, last = 0; ///< first <= last
  std::vector<double> listed =
      {}; ///< explicit values, ascending from first to last; empty for a range
  std::vector<std::string> planners = {}; ///< names, as in `compile --planner`

  /// Whether values are names, between which nothing lies.
  bool isNamed() const { return kind == Kind::overlap || kind == Kind::planner; }
  /// Whether values are whole numbers.
  bool isWhole() const;
};

/// "bandwidth", ...
std::string_view axisName(SweepAxis::Kind kind);

/// The values' column in CSV, with its unit, and a value in that unit: "bandwidth_bit_per_s".
std::string_view csvColumn(SweepAxis::Kind kind);
double csvValue(SweepAxis::Kind kind, double value);

/// Reads "AXIS=FIRST..LAST", "AXIS=VALUE" or "AXIS=VALUE,VALUE,..". badUsage where the axis is
/// unknown, a value has no unit or is not in range, values do not ascend, names are a range, or a
/// planner is unknown, named twice or one that plans in `compile` only.
Result<SweepAxis> parseSweep(std::string_view text);

/// badUsage where two axes of a grid set the same thing: ranks and nodes, bucket and planner, or an
/// axis and itself.
Status checkCombination(const SweepAxis &axis, const SweepAxis &across);

/// The listed values, or values from first to last by doubling, both included. Counts are whole
/// numbers without repetition; ranks between the ends that exceed one node are multiples of
/// `devicesPerNode`. Values that were typed are always included.
/// Precondition: devicesPerNode >= 1.
std::vector<double> sweepValues(const SweepAxis &axis, int devicesPerNode);

/// "10 Gb/s", "50.0 us", "8"; a planner's index.
std::string axisValue(SweepAxis::Kind kind, double value);

/// As above, with planners' names.
std::string axisValue(const SweepAxis &axis, double value);

} // namespace syncline::sweep
