// All-reduce by recursive doubling: the fewest rounds, the whole message in each.
#pragma once

#include "runtime/transport/collectives/AllReduce.h"
#include "runtime/transport/collectives/PeerLinks.h"
#include "runtime/transport/collectives/RankHalves.h"

namespace syncline {

/// ceil(log2 P) rounds, from pairs to all ranks; a rank sends and receives N in each, twice N where
/// it has a guest (RankHalves.h; only when P is no power of two).
class RecursiveDoubling : public AllReduce {
public:
  static Result<std::unique_ptr<AllReduce>> create(Transport &transport, const std::string &name);

private:
  RecursiveDoubling(int ranks, std::vector<RankHalving> levels, std::unique_ptr<PeerLinks> links)
      : AllReduce(ranks), levels(std::move(levels)), links(std::move(links)) {}
  Status sum(std::byte *data, std::size_t bytes, ElementType type) override;
  Status sendTo(const RankHalving &level, const std::byte *data, std::size_t bytes);

  const std::vector<RankHalving> levels; ///< from pairs to all ranks
  std::unique_ptr<PeerLinks> links;
};

} // namespace syncline
