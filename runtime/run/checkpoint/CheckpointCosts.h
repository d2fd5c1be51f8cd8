// What checkpoints cost a rank.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace syncline::run {

/// Sums over a run's checkpoints, in seconds.
struct CheckpointCosts {
  std::int64_t count = 0;
  std::int64_t failed = 0; ///< of them, which are not there
  double held = 0;         ///< that training stood still: for copies, and for the checkpoint before
  double waited = 0;       ///< of them for the checkpoint before
  double longest = 0;      ///< that training stood still for one checkpoint
  double writing = 0;      ///< beside the steps

  void add(double seconds, double waiting);
  /// One sentence; count is not 0.
  std::string text() const;
  /// Adds the keys that Report.h describes, where there are checkpoints.
  void addTo(nlohmann::ordered_json &line) const;
};

} // namespace syncline::run
