// Factors of ranks.
#include "frontend/sweep/SlowRanks.h"

#include <string>

namespace syncline::sweep {

Status slowRanks(simulate::Machines &machines, std::span<const std::pair<int, double>> slow) {
  for (const auto &[rank, factor] : slow) {
    if (rank >= machines.ranks)
      return Status::badInput("--slow: there is no rank " + std::to_string(rank) + ", only 0 to " +
                              std::to_string(machines.ranks - 1));
    machines.slowdown.resize(static_cast<std::size_t>(machines.ranks), 1);
    machines.slowdown[static_cast<std::size_t>(rank)] *= factor;
  }
  return Status::ok();
}

} // namespace syncline::sweep
