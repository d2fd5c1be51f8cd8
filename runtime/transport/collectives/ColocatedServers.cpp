// A parameter server that is sharded over the workers: every rank serves one block.
//
// Order of the messages: gathering before replies, then segment by segment. In round k every rank
// sends to the rank k places further, so that no rank is the target of all ranks at once. A segment
// is summed in the order of the rounds.
#include "runtime/core/StepTypes.h"
#include "runtime/transport/collectives/Algorithms.h"
#include "runtime/transport/collectives/Blocks.h"
#include "runtime/transport/collectives/PeerLinks.h"

namespace syncline::transport {
namespace {

/// Each rank sends to every other rank the block that the other one serves, sums its own block, and
/// sends the sum to all. There are 2 rounds of P-1 simultaneous messages; a rank sends and receives
/// 2(P-1)/P·N. Needs links between all ranks.
class ColocatedServers : public AllReduce {
public:
  ColocatedServers(int rank, int ranks, std::unique_ptr<PeerLinks> links)
      : AllReduce(ranks), rank(rank), links(std::move(links)) {}

private:
  Status sum(std::byte *data, std::size_t bytes, ElementType type) override;

  const int rank;
  const std::unique_ptr<PeerLinks> links;
};

Status ColocatedServers::sum(std::byte *data, std::size_t bytes, ElementType type) {
  const Blocks blocks(ranks, bytes, core::elementBytes(type));
  links->begin(blocks.segmentBytes());
  Status s;
  for (int i = 0; i < blocks.segments() && s; ++i)
    for (int k = 1; k < ranks && s; ++k) {
      const int server = (rank + k) % ranks;
      const core::Range r = blocks.segment(server, i);
      s = links->send(server, data + r.begin, r.size());
    }
  for (int i = 0; i < blocks.segments() && s; ++i) {
    const core::Range r = blocks.segment(rank, i);
    for (int k = 1; k < ranks && s; ++k)
      s = links->receiveAndAdd((rank - k + ranks) % ranks, data + r.begin, r.size(), type);
    for (int k = 1; k < ranks && s; ++k)
      s = links->send((rank + k) % ranks, data + r.begin, r.size());
  }
  for (int i = 0; i < blocks.segments() && s; ++i)
    for (int k = 1; k < ranks && s; ++k) {
      const int server = (rank - k + ranks) % ranks;
      const core::Range r = blocks.segment(server, i);
      s = links->receiveSum(server, data + r.begin, r.size());
    }
  return links->finish(s);
}

} // namespace

Result<std::unique_ptr<AllReduce>>
createColocatedServers(Transport &transport, const std::string &name, const RankLayout &) {
  const int rank = transport.rank(), ranks = transport.size();
  std::set<int> others;
  for (int r = 0; r < ranks; ++r)
    if (r != rank)
      others.insert(r);
  SYNCLINE_TRY_GET(links, PeerLinks::open(transport, name, others, others));
  return std::unique_ptr<AllReduce>(new ColocatedServers(rank, ranks, std::move(*links)));
}

} // namespace syncline::transport
