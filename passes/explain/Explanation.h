// Explanation: the facts that `syncline why` reports about one gradient of a plan.
#pragma once

#include "passes/explain/Alternatives.h"
#include "passes/explain/Crossovers.h"
#include "passes/explain/Regrouping.h"

#include <optional>
#include <vector>

namespace syncline::explain {

/// Poseidon's rule: a layer uses factors where they move no more bytes than servers,
/// both directions.
struct ByteRule {
  double factorBytes = 0, serverBytes = 0;
  Scheme scheme = Scheme::parameterServer; ///< scheme that the rule chooses
};

/// One parameter that is varied while all else stays, with the crossovers to other schemes.
struct Axis {
  enum class Kind { bandwidth, batch, nodes };
  Kind kind = Kind::bandwidth;
  /// Bandwidth: bytes per second of a node's link, or a multiple of the planned bandwidth where
  /// the cluster has no link. Batch: samples per rank, or a multiple where they are not known.
  /// Nodes: count.
  Range range = {};
  bool isMultiple = false;
  Crossovers<Scheme> crossovers = {};
};

struct Explanation {
  Scheme chosen = Scheme::ring;
  bool isPiggyback = false; ///< the carrier's message brings the gradient
  problem::Message message; ///< message that brings the gradient
  std::vector<Alternative> alternatives;
  std::optional<Grouping> grouping; ///< absent where the message is by factors
  /// Absent where the gradient has no factors, or the cluster has no servers to compare them with.
  std::optional<ByteRule> byteRule;
  std::vector<Axis> axes; ///< empty for a single rank, and where plansAnew is not set
  bool plansAnew = true;  ///< the planner can plan for other clusters here
  /// Schemes with measured times. Where there are any, bandwidth and nodes are not varied.
  std::vector<Scheme> measured;
};

} // namespace syncline::explain
