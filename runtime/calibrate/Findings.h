// What a calibration has measured, before anything is fitted. Times in seconds.
#pragma once

#include "runtime/calibrate/Curve.h"
#include "runtime/calibrate/Statistics.h"
#include "syncline/Scheme.h"

#include <string>
#include <vector>

namespace syncline::calibrate {

/// One message size of one scheme; times of the slowest rank.
struct SizeFinding {
  std::int64_t bytes = 0; ///< of factors: what one rank contributes
  Summary seconds;        ///< while nobody computes
};

struct SchemeFinding {
  Scheme scheme = Scheme::ring;
  std::vector<SizeFinding> sizes; ///< ascending

  Curve curve() const; ///< the medians
};

/// Rank 0 and one other.
struct PairFinding {
  int partner = 0;
  Summary latency; ///< seconds one way
  Summary stream;  ///< seconds of Pairs::streamBytes
};

/// One operation on the device, on all ranks at once; times of the slowest rank.
struct KernelFinding {
  std::string name;
  double flops = 0, bytes = 0;
  Summary seconds;
  double fastestRank = 0; ///< median seconds of the fastest rank
};

struct DeviceFinding {
  std::vector<KernelFinding> compute, memory;
  KernelFinding smallest;

  double computeRate() const; ///< FLOP/s over all of `compute`
  double memoryRate() const;  ///< bytes/s over all of `memory`
};

/// Factors by which things that happen at once slow each other; no samples: not measured.
struct Interference {
  Summary alone;          ///< seconds of the computation while nobody sends
  Summary computation;    ///< beside messages that follow each other, to alone
  Summary beside;         ///< seconds of such a message beside computation, to those alone
  std::int64_t bytes = 0; ///< of such a message
  Summary messages;       ///< two messages at once, to one

  /// `interference: computation` of a cluster file. Its reader takes a message for as long as it
  /// takes alone, so what a second of messages costs the computation is charged to the part of it
  /// that the message takes alone. At least 1, at most maxFactor.
  double factor() const;
  static constexpr double maxFactor = 10;
};

struct Findings {
  int ranks = 0, ranksPerNode = 1; ///< the latter 1 where all share one node, too
  std::string conditions;          ///< "compute threads a rank: 4"
  std::vector<std::string> hosts;  ///< by rank, with what it computes on: "alpha (NVIDIA H100)"
  DeviceFinding device;
  std::vector<PairFinding> pairs; ///< empty where ranks have no links of their own
  std::vector<SchemeFinding> schemes;
  SchemeFinding inside; ///< the ring of each node; empty without nodes of several ranks
  std::vector<std::int64_t> leftOut; ///< sizes for which there was no time
  Interference interference;
  double seconds = 0; ///< that all of it took
};

/// Whether the times are good enough to plan by: three quarters of them known within 10 %.
bool isReproducible(const std::vector<SchemeFinding> &schemes);

} // namespace syncline::calibrate
