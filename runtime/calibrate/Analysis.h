// What findings mean for planning: tables, constants, where these do not fit. Pure functions.
#pragma once

#include "runtime/calibrate/Findings.h"
#include "runtime/calibrate/LinkFit.h"

#include <optional>

namespace syncline::calibrate {

/// One scheme's costs.
struct Table {
  Scheme scheme = Scheme::ring;
  Curve measured; ///< medians as they are
  Curve costs;    ///< nondecreasing
  /// a + b·bytes, least relative squares of `measured`; and where growth differs from it.
  LinkConstants line;
  std::vector<Jump> jumps;
};

/// Constants of a link and how well they explain what was measured.
struct LinkCosts {
  LinkConstants constants;
  /// From the ring's rounds; otherwise, for want of a scheme that has them or because no positive
  /// bandwidth explains them, from rank 0's pairs.
  bool isFromRing = false;
  /// The ring's rounds, of long messages, explain no latency: that is the slowest pair's.
  bool isLatencyFromPairs = false;
  /// The rounds say clearly more than the slowest pair supports, uncertainty included: it is that.
  bool isBandwidthOfPairs = false;
  double longResidual = 0; ///< the worst of the messages that the bandwidth comes from
  double medianResidual = 0, worstResidual = 0; ///< relative, absolute value
  Scheme worstScheme = Scheme::ring;
  std::int64_t worstBytes = 0;
};

struct Analysis {
  /// Between ranks; with nodes of several ranks between nodes. Nothing where neither the ring's
  /// rounds nor a pair says what bandwidth there is.
  std::optional<LinkCosts> network;
  std::optional<LinkCosts> inside;
  std::vector<Table> tables; ///< as Findings::schemes, those with at least one size
};

Analysis analyse(const Findings &findings);

} // namespace syncline::calibrate
