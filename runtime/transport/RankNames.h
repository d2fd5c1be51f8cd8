// What messages call the processes of a run.
#pragma once

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

} // namespace syncline
