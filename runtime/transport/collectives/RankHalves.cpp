// Splitting the ranks recursively.
#include "runtime/transport/collectives/RankHalves.h"

namespace syncline::transport {

std::vector<RankHalving> halvingsOf(int rank, int ranks) {
  std::vector<RankHalving> levels;
  for (int first = 0, last = ranks; last - first > 1;) {
    const int middle = first + (last - first + 1) / 2;
    const int lower = middle - first, upper = last - middle;
    RankHalving level{first, middle, last, rank >= middle};
    if (level.isUpper) {
      level.partner = rank - middle + first;
      if (rank == middle && lower > upper)
        level.guest = middle - 1;
    } else if (rank - first < upper) {
      level.partner = rank - first + middle;
    } else {
      level.host = middle;
    }
    levels.push_back(level);
    (level.isUpper ? first : last) = middle;
  }
  return levels;
}

static std::set<int> partnersAnd(int RankHalving::*other, const std::vector<RankHalving> &levels) {
  std::set<int> met;
  for (const RankHalving &l : levels)
    for (int peer : {l.partner, l.*other})
      if (peer >= 0)
        met.insert(peer);
  return met;
}

std::set<int> partnersAndGuests(const std::vector<RankHalving> &levels) {
  return partnersAnd(&RankHalving::guest, levels);
}

std::set<int> partnersAndHosts(const std::vector<RankHalving> &levels) {
  return partnersAnd(&RankHalving::host, levels);
}

} // namespace syncline::transport
