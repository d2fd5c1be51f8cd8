// How error messages name the processes of a run and its last completed step.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace syncline::core {

/// The first `workers` ranks of a run compute; the ranks after them are servers.
struct RankNames {
  int workers = std::numeric_limits<int>::max();

  /// The rank's name: "rank 3", "server 1 (rank 5)".
  std::string of(int rank) const;
  /// The names of several ranks: "ranks 0, 2, server 1 (rank 5)".
  std::string of(const std::vector<int> &ranks) const;
};

/// "last completed step 4" for a run that has completed 5 steps (`completed`).
std::string lastCompletedStep(std::int64_t completed);

} // namespace syncline::core
