// The measurements of a calibration before any fit. Times are in seconds.
#pragma once

#include "runtime/calibrate/Curve.h"
#include "runtime/calibrate/Statistics.h"
#include "syncline/Scheme.h"

#include <string>
#include <vector>

namespace syncline::calibrate {

/// One message size of one scheme, with times of the slowest rank.
struct SizeFinding {
  std::int64_t bytes = 0; ///< for factors, what one rank contributes
  Summary seconds;        ///< while no rank computes
  /// The samples that `seconds` summarizes, where each is of one message; else empty.
  std::vector<double> single = {};
};

/// Factors by which simultaneous activities slow each other. A summary without samples was
/// not measured.
struct Interference {
  Summary alone = {};       ///< seconds of the computation without messages
  Summary computation = {}; ///< computation beside successive messages, relative to alone
  Summary beside = {};      ///< such a message beside computation, relative to alone
  std::int64_t bytes = 0;   ///< size of such a message
  Summary messages = {};    ///< two simultaneous messages, relative to one
  Summary latency = {};     ///< the share of a short message's time alone that computation loses
  /// `computation` of convolutions and products of matrices alone, and of operations that live on
  /// the memory's bandwidth.
  Summary products = {}, memory = {};

  /// The value of `interference: computation` in a cluster file. Its reader assumes that a message
  /// takes as long as it takes alone, so the computation's loss during a message's longer real time
  /// is attributed to the shorter time alone. At least 1, at most maxFactor.
  double factor() const { return factor(computation); }
  /// The value of `products` or of `memory` in it, likewise.
  double factor(const Summary &operations) const;
  /// Whether products and memory-bound operations surely lose unequally: the intervals of both
  /// medians are apart.
  bool tellsClasses() const;
  /// The value of `interference: latency`, likewise. Precondition: `latency` has samples.
  double latencyFactor() const;
  /// The value of `interference: messages`: how many times as long each of two messages takes while
  /// both are under way. At least 1, at most maxFactor.
  double messageFactor() const;
  /// Whether computation, or a class of it, surely loses more or less to these messages than to
  /// those of `other`: the intervals of both medians are apart.
  bool differsFrom(const Interference &other) const;
  static constexpr double maxFactor = 10;
};

struct SchemeFinding {
  Scheme scheme = Scheme::ring;
  std::vector<SizeFinding> sizes; ///< ascending
  Interference besides = {};      ///< computation beside its messages, where it is not the ring

  Curve curve() const; ///< the median time by size
};

/// Links between rank 0 and one other rank.
struct PairFinding {
  int partner = 0;
  Summary latency; ///< seconds one way
  Summary stream;  ///< seconds for Pairs::streamBytes
};

/// One operation that runs on all ranks' devices at once, with times of the slowest rank.
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

struct Findings {
  int ranks = 0, ranksPerNode = 1; ///< ranksPerNode is 1 also where all ranks share one node
  std::string conditions;          ///< "compute threads a rank: 4"
  std::vector<std::string> hosts;  ///< by rank, with the device: "alpha (NVIDIA H100)"
  DeviceFinding device;
  std::vector<PairFinding> pairs; ///< empty for backends with their own channels
  std::vector<SchemeFinding> schemes;
  SchemeFinding inside; ///< the ring of each node; empty without nodes of several ranks
  std::vector<std::int64_t> unmeasured; ///< sizes for which there was no time
  /// Seconds of a calibration that has time for computation beside schemes other than the ring; 0
  /// where this one had.
  double besideOthers = 0;
  Interference interference;
  double seconds = 0; ///< duration of the calibration
};

/// Whether the times are good enough for planning: three quarters of them are known within 10 %.
bool isReproducible(const std::vector<SchemeFinding> &schemes);

} // namespace syncline::calibrate
