// Recursive halving of the ranks: which ranks exchange at each level.
#pragma once

#include <set>
#include <vector>

namespace syncline::transport {

/// One rank's place in a group of ranks [first, last) that is split at `middle`. The lower half has
/// as many ranks as the upper half, or one more.
///
/// Rank i of one half exchanges with rank i of the other half. If the last rank of the lower half
/// has no partner, it is the guest of the first rank of the upper half, its host: the guest sends
/// its values to the host before anything is summed over the group, and receives the results from
/// the host afterwards. So any number of ranks needs ceil(log2 P) levels, without extra rounds for
/// surplus ranks.
struct RankHalving {
  int first, middle, last;
  bool isUpper;     ///< this rank is in [middle, last)
  int partner = -1; ///< rank in the other half; -1 for a guest
  int guest = -1;   ///< this rank's guest, or -1
  int host = -1;    ///< this rank's host if it is a guest, otherwise -1

  int ownFirst() const { return isUpper ? middle : first; }
  int ownLast() const { return isUpper ? last : middle; }
  int otherFirst() const { return isUpper ? first : middle; }
  int otherLast() const { return isUpper ? middle : last; }
};

/// The levels from all ranks down to a pair. Empty for one rank.
std::vector<RankHalving> halvingsOf(int rank, int ranks);

/// All partners and guests of a rank at these levels; partnersAndHosts() returns its partners
/// and hosts.
std::set<int> partnersAndGuests(const std::vector<RankHalving> &levels);
std::set<int> partnersAndHosts(const std::vector<RankHalving> &levels);

} // namespace syncline::transport
