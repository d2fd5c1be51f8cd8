// Gathering, summing and replying between workers and servers.
//
// Order of the messages: piece by piece. In round k, worker w sends to server (w + k) mod S, so
// that workers spread over the servers; within a round the order is by worker. Gathering and
// replies go in opposite directions and meet only in a server, which gathers a piece before it
// replies. A worker queues all its sends before its receives, but another thread carries out the
// sends. Both directions are therefore busy once the first piece is summed, and a long message
// takes the time of the busiest direction of a link, max(1, P/S)·N, plus one piece of each worker.
#include "runtime/transport/collectives/DedicatedServers.h"

#include "runtime/core/StepTypes.h"
#include "runtime/transport/collectives/Blocks.h"
#include "syncline/PlanConstants.h"

#include <algorithm>

namespace syncline::transport {
namespace {

class ServerClient : public AllReduce {
public:
  ServerClient(int rank, const ServerGroup &group, std::unique_ptr<PeerLinks> links)
      : AllReduce(group.workers), rank(rank), group(group), links(std::move(links)) {}

private:
  Status sum(std::byte *data, std::size_t bytes, ElementType type) override;

  const int rank;
  const ServerGroup group;
  std::unique_ptr<PeerLinks> links;
};

Status ServerClient::sum(std::byte *data, std::size_t bytes, ElementType type) {
  const Blocks blocks(group.servers, bytes, core::elementBytes(type), serverPieceBytes);
  links->begin(blocks.segmentBytes());
  Status s;
  for (bool sends : {true, false})
    for (int i = 0; i < blocks.segments() && s; ++i)
      for (int k = 0; k < group.servers && s; ++k) {
        const int server = (rank + k) % group.servers, peer = group.workers + server;
        const core::Range r = blocks.segment(server, i);
        s = sends ? links->send(peer, data + r.begin, r.size())
                  : links->receiveSum(peer, data + r.begin, r.size());
      }
  return links->finish(s);
}

/// Ranks [first, last) as peers to link with. With a single worker there is nothing to sum and no
/// link is opened: a server would wait at an unused link for a worker that may have left already.
std::set<int> peersFrom(int first, int last, const ServerGroup &group) {
  std::set<int> ranks;
  for (int r = first; r < last && group.workers > 1; ++r)
    ranks.insert(r);
  return ranks;
}

Status checkGroup(const Transport &transport, const ServerGroup &group) {
  if (group.workers < 1 || group.servers < 1 || group.workers + group.servers != transport.size())
    return Status::badInput(std::to_string(group.workers) + " workers and " +
                            std::to_string(group.servers) + " servers do not make up " +
                            std::to_string(transport.size()) + " ranks");
  return Status::ok();
}

} // namespace

Result<std::unique_ptr<AllReduce>> createServerClient(Transport &transport, const std::string &name,
                                                      const ServerGroup &group) {
  SYNCLINE_TRY(checkGroup(transport, group));
  const std::set<int> servers = peersFrom(group.workers, transport.size(), group);
  SYNCLINE_TRY_GET(links, PeerLinks::open(transport, name, servers, servers));
  return std::unique_ptr<AllReduce>(new ServerClient(transport.rank(), group, std::move(*links)));
}

Result<std::unique_ptr<DedicatedServer>>
DedicatedServer::create(Transport &transport, const std::string &name, const ServerGroup &group) {
  SYNCLINE_TRY(checkGroup(transport, group));
  const std::set<int> workers = peersFrom(0, group.workers, group);
  SYNCLINE_TRY_GET(links, PeerLinks::open(transport, name, workers, workers));
  const int index = transport.rank() - group.workers;
  std::vector<int> order;
  for (int k = 0; k < group.servers; ++k)
    for (int w = 0; w < group.workers; ++w)
      if ((w + k) % group.servers == index)
        order.push_back(w);
  return std::unique_ptr<DedicatedServer>(
      new DedicatedServer(index, group, std::move(order), std::move(*links)));
}

Status DedicatedServer::serve(std::size_t bytes, ElementType type) {
  if (Status s = checkSummable(bytes, type); !s || group.workers == 1)
    return s;
  const Blocks blocks(group.servers, bytes, core::elementBytes(type), serverPieceBytes);
  const core::Range own = blocks.block(index);
  block.resize(std::max(block.size(), own.size()));
  links->begin(blocks.segmentBytes());
  Status s;
  for (int i = 0; i < blocks.segments() && s; ++i) {
    const core::Range r = blocks.segment(index, i);
    std::byte *place = block.data() + (r.begin - own.begin);
    for (int w = 0; w < group.workers && s; ++w)
      s = w == 0 ? links->receive(order[w], place, r.size())
                 : links->receiveAndAdd(order[w], place, r.size(), type);
    for (int w = 0; w < group.workers && s; ++w)
      s = links->send(order[w], place, r.size());
  }
  return links->finish(s);
}

} // namespace syncline::transport
