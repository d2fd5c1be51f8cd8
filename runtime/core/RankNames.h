// What messages call the processes of a run, and how far it came.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace syncline {

/// Of a run's ranks the first `workers` compute; those behind them are servers.
struct RankNames {
  int workers = std::numeric_limits<int>::max();

  /// "rank 3"; "server 1 (rank 5)".
  std::string of(int rank) const;
  /// "ranks 0, 2, server 1 (rank 5)".
  std::string of(const std::vector<int> &ranks) const;
};

/// "last completed step 4" of a run of which `completed` steps are complete.
std::string lastCompletedStep(std::int64_t completed);

} // namespace syncline
