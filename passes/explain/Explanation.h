// Explanation: what is to be said about one gradient of a plan.
#pragma once

#include "passes/explain/Alternatives.h"
#include "passes/explain/Crossovers.h"

#include <optional>
#include <vector>

namespace syncline::explain {

/// Poseidon's rule: by factors where they move no more bytes than servers, both directions.
struct ByteRule {
  double factorBytes = 0, serverBytes = 0;
  Scheme scheme = Scheme::parameterServer; ///< what it says
};

/// One thing that is varied while all else stays, and from where on another scheme is chosen.
struct Axis {
  enum class Kind { bandwidth, batch, nodes };
  Kind kind = Kind::bandwidth;
  /// Bandwidth: bytes per second of a node's link, or a multiple of the planned where the cluster
  /// has no link. Batch: samples per rank, or a multiple where they are not known. Nodes: count.
  Range range = {};
  bool isMultiple = false;
  Crossovers<Scheme> crossovers = {};
};

struct Explanation {
  Scheme chosen = Scheme::ring;
  bool isPiggyback = false; ///< it needs no message: its carrier's brings it
  problem::Message message; ///< that brings it
  std::vector<Alternative> alternatives;
  /// Absent where the gradient has no factors, or the cluster no servers to compare them with.
  std::optional<ByteRule> byteRule;
  std::vector<Axis> axes; ///< none for a lone rank
  /// Where these are not empty, bandwidth and nodes are not varied: their times are measured.
  std::vector<Scheme> measured;

  /// The entry of the chosen scheme, and of the best of the others; null where there is none.
  const Alternative *chosenOne() const;
  const Alternative *nextBest() const;
};

} // namespace syncline::explain
