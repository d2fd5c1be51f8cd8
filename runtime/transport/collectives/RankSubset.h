// A subset of a transport's ranks as a transport.
#pragma once

#include "runtime/transport/Transport.h"

namespace syncline::transport {

/// Ranks are numbered from 0 in the order of `members`; errors use the whole transport's names. The
/// whole transport outlives this object; the links may outlive this object.
class RankSubset : public Transport {
public:
  /// `members` contains the whole transport's own rank.
  RankSubset(Transport &whole, std::vector<int> members);

  int rank() const override { return ownRank; }
  int size() const override { return static_cast<int>(members.size()); }
  /// All members call it together. Names of links must be unique in the whole transport.
  Result<std::vector<std::unique_ptr<Link>>> open(std::span<const LinkEnd> ends) override;
  /// The traffic of the whole transport.
  Traffic traffic() const override { return whole.traffic(); }

private:
  Transport &whole;
  const std::vector<int> members;
  const int ownRank;
};

/// The subset of the first `count` ranks. This rank must be one of them.
RankSubset firstRanks(Transport &whole, int count);

} // namespace syncline::transport
