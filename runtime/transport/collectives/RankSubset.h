// Some of a transport's ranks as a transport of their own.
#pragma once

#include "runtime/transport/Transport.h"

namespace syncline {

/// Ranks count from 0 in the order of `members`; errors name them as the whole transport does. The
/// whole transport outlives this object; the links may outlive it.
class RankSubset : public Transport {
public:
  /// `members` contains the whole transport's own rank.
  RankSubset(Transport &whole, std::vector<int> members);

  int rank() const override { return ownRank; }
  int size() const override { return static_cast<int>(members.size()); }
  /// The members together; names are the whole transport's.
  Result<std::vector<std::unique_ptr<Link>>> open(std::span<const LinkEnd> ends) override;
  /// The whole transport's.
  Traffic traffic() const override { return whole.traffic(); }

private:
  Transport &whole;
  const std::vector<int> members;
  const int ownRank;
};

/// The first `count` ranks, of which this rank is one.
RankSubset firstRanks(Transport &whole, int count);

} // namespace syncline
