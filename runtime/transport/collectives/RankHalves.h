// The ranks, halved again and again: who exchanges with whom at each level.
#pragma once

#include <set>
#include <vector>

namespace syncline {

/// One rank's place in a group of ranks [first, last) that is split at `middle`; the lower half has
/// as many ranks as the upper or one more.
///
/// Rank i of one half exchanges with rank i of the other. Where the lower half's last rank has no
/// partner, it is the guest of the upper half's first rank, its host: the guest's values go to the
/// host before anything is summed over the group, and the host's results to the guest after. So any
/// number of ranks needs ceil(log2 P) levels, without extra rounds to fold surplus ranks in.
struct RankHalving {
  int first, middle, last;
  bool isUpper;     ///< this rank is in [middle, last)
  int partner = -1; ///< in the other half; -1 for a guest
  int guest = -1;   ///< of this rank
  int host = -1;    ///< this rank is a guest

  int ownFirst() const { return isUpper ? middle : first; }
  int ownLast() const { return isUpper ? last : middle; }
  int otherFirst() const { return isUpper ? first : middle; }
  int otherLast() const { return isUpper ? middle : last; }
};

/// From all ranks down to a pair. Empty for one rank.
std::vector<RankHalving> halvingsOf(int rank, int ranks);

/// Everybody whom a rank meets at these levels, as partner or guest, or as partner or host.
std::set<int> partnersAndGuests(const std::vector<RankHalving> &levels);
std::set<int> partnersAndHosts(const std::vector<RankHalving> &levels);

} // namespace syncline
