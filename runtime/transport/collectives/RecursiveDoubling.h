// All-reduce by recursive doubling: the fewest rounds, with the whole message in each round.
#pragma once

#include "runtime/transport/collectives/AllReduce.h"
#include "runtime/transport/collectives/PeerLinks.h"
#include "runtime/transport/collectives/RankHalves.h"

namespace syncline::transport {

/// Takes ceil(log2 P) rounds, from pairs to all ranks. A rank sends and receives N in each
/// round, or 2N in a round where it has a guest (RankHalves.h), which happens only when P is no
/// power of two.
class RecursiveDoubling : public AllReduce {
public:
  static Result<std::unique_ptr<AllReduce>> create(Transport &transport, const std::string &name);

private:
  RecursiveDoubling(int ranks, std::vector<RankHalving> levels, std::unique_ptr<PeerLinks> links)
      : AllReduce(ranks), levels(std::move(levels)), links(std::move(links)) {}
  Status sum(std::byte *data, std::size_t bytes, ElementType type) override;
  Status sendTo(const RankHalving &level, const std::byte *data, std::size_t bytes);

  const std::vector<RankHalving> levels; ///< in order: pairs first, all ranks last
  std::unique_ptr<PeerLinks> links;
};

} // namespace syncline::transport
