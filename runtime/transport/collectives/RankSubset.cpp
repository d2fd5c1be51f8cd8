// Translating the subset's ranks to the whole transport's.
#include "runtime/transport/collectives/RankSubset.h"

#include <algorithm>
#include <numeric>

namespace syncline::transport {

static int indexOf(const std::vector<int> &members, int rank) {
  return static_cast<int>(std::find(members.begin(), members.end(), rank) - members.begin());
}

RankSubset::RankSubset(Transport &whole, std::vector<int> members)
    : whole(whole), members(std::move(members)), ownRank(indexOf(this->members, whole.rank())) {}

RankSubset firstRanks(Transport &whole, int count) {
  std::vector<int> members(count);
  std::iota(members.begin(), members.end(), 0);
  return RankSubset(whole, std::move(members));
}

Result<std::vector<std::unique_ptr<Link>>> RankSubset::open(std::span<const LinkEnd> ends) {
  std::vector<LinkEnd> renamed(ends.begin(), ends.end());
  for (LinkEnd &end : renamed)
    end.peer = members[end.peer];
  return whole.open(renamed);
}

} // namespace syncline::transport
