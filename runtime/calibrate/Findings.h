// What a calibration has measured, before anything is fitted. Times in seconds.
#pragma once

#include "runtime/calibrate/Curve.h"
#include "runtime/calibrate/Statistics.h"

#include <string>
#include <vector>

namespace syncline::calibrate {

/// One message size of one scheme; times of the slowest rank.
struct SizeFinding {
  std::int64_t bytes = 0; ///< of factors: what one rank contributes
  Summary seconds;        ///< while nobody computes
};

struct SchemeFinding {
  std::string scheme;
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

/// Computation beside messages of one size that follow each other.
struct OverlapFinding {
  std::int64_t bytes = 0;
  Summary computation; ///< seconds of the computation, to those alone
  Summary messages;    ///< seconds of a message, to those alone; no samples: none passed in time
};

/// Factors by which things that happen at once slow each other; no samples: not measured.
struct Interference {
  Summary alone;       ///< seconds of the computation while nobody sends
  Summary computation; ///< beside messages of all these sizes, to alone
  std::vector<OverlapFinding> sizes;
  Summary messages; ///< two messages at once, to one

  /// `interference: computation` of a cluster file: at least 1.
  double factor() const;
};

struct Findings {
  int ranks = 0, ranksPerNode = 1; ///< the latter 1 where all share one node, too
  int threads = 1;
  std::vector<std::string> hosts; ///< by rank
  DeviceFinding device;
  std::vector<PairFinding> pairs;
  std::vector<SchemeFinding> schemes;
  SchemeFinding inside; ///< the ring of each node; empty without nodes of several ranks
  std::vector<std::int64_t> leftOut; ///< sizes for which there was no time
  Interference interference;
  double seconds = 0; ///< that all of it took
};

/// Whether the times are good enough to plan by: three quarters of them known within 10 %.
bool isReproducible(const std::vector<SchemeFinding> &schemes);

} // namespace syncline::calibrate
