// From findings to costs for planning: tables, link constants, and where these do not fit.
// Pure functions.
#pragma once

#include "runtime/calibrate/Findings.h"
#include "runtime/calibrate/LinkFit.h"
#include "runtime/calibrate/MessageScatter.h"

#include <optional>

namespace syncline::calibrate {

/// The costs of one scheme.
struct Table {
  Scheme scheme = Scheme::ring;
  Curve measured; ///< the measured medians
  Curve costs;    ///< a nondecreasing curve near `measured`
  /// The line a + b·bytes with the least relative squares to `measured`, and the places where the
  /// growth differs from it.
  LinkConstants line;
  std::vector<Jump> jumps;
};

/// Constants of a link, and how well they explain the measurements.
struct LinkCosts {
  LinkConstants constants;
  /// True: from the ring's rounds. False: from rank 0's pairs, because no scheme with ring rounds
  /// was measured or no positive bandwidth explains them.
  bool isFromRing = false;
  /// The ring's rounds of long messages explain no latency, so the latency is that of the
  /// slowest pair.
  bool isLatencyFromPairs = false;
  /// The rounds imply clearly more bandwidth than the slowest pair has, uncertainty included, so
  /// the bandwidth is that of the slowest pair.
  bool isBandwidthOfPairs = false;
  double longResidual = 0; ///< largest residual of the messages that determine the bandwidth
  double medianResidual = 0, worstResidual = 0; ///< relative, as absolute values
  Scheme worstScheme = Scheme::ring;
  std::int64_t worstBytes = 0;
};

struct Analysis {
  /// The link between ranks, or between nodes where nodes have several ranks. Nothing where neither
  /// the ring's rounds nor a pair determines a bandwidth.
  std::optional<LinkCosts> network;
  std::optional<LinkCosts> inside;
  std::vector<Table> tables; ///< of Findings::schemes with at least one size
  MessageScatter scatter;
};

Analysis analyse(const Findings &findings);

} // namespace syncline::calibrate
