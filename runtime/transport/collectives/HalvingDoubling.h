// All-reduce by recursive halving and doubling (Rabenseifner), with few rounds and little traffic.
#pragma once

#include "runtime/core/Channel.h"
#include "runtime/transport/collectives/AllReduce.h"
#include "runtime/transport/collectives/Blocks.h"
#include "runtime/transport/collectives/PeerLinks.h"
#include "runtime/transport/collectives/RankHalves.h"

namespace syncline::transport {

/// Takes 2·ceil(log2 P) rounds: a reduce-scatter that exchanges halves, quarters and so on of the
/// message, then an all-gather in the reverse order. A rank sends and receives 2(P-1)/P·N when P is
/// a power of two. Otherwise hosts (RankHalves.h) send more; with 3 ranks, 2N in all.
class HalvingDoubling : public AllReduce {
public:
  static Result<std::unique_ptr<AllReduce>> create(Transport &transport, const std::string &name);

private:
  struct Pass;
  HalvingDoubling(int ranks, std::vector<RankHalving> levels, std::unique_ptr<PeerLinks> links)
      : AllReduce(ranks), levels(std::move(levels)), links(std::move(links)) {}
  Status sum(std::byte *data, std::size_t bytes, ElementType type) override {
    return sumHalf(data, bytes, type, core::Half::whole);
  }
  Status sumHalf(std::byte *data, std::size_t bytes, ElementType type, core::Half half) override;

  const std::vector<RankHalving> levels; ///< from all ranks to pairs
  std::unique_ptr<PeerLinks> links;
};

} // namespace syncline::transport
