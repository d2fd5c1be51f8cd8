// Opening links to peers; direct and queued sends.
#include "runtime/transport/collectives/PeerLinks.h"

#include "runtime/core/StepTypes.h"
#include "runtime/transport/collectives/Sum.h"

namespace syncline::transport {

Result<std::unique_ptr<PeerLinks>> PeerLinks::open(Transport &transport, const std::string &name,
                                                   const std::set<int> &to,
                                                   const std::set<int> &from) {
  const int rank = transport.rank();
  auto named = [&](int sender, int receiver) {
    return name + "/" + std::to_string(sender) + "-" + std::to_string(receiver);
  };
  std::vector<LinkEnd> ends;
  for (int peer : to)
    ends.push_back({peer, true, named(rank, peer)});
  for (int peer : from)
    ends.push_back({peer, false, named(peer, rank)});
  std::unique_ptr<PeerLinks> links(new PeerLinks);
  links->to.resize(transport.size());
  links->from.resize(transport.size());
  if (ends.empty())
    return links;
  SYNCLINE_TRY_GET(opened, transport.open(ends));
  for (std::size_t i = 0; i < ends.size(); ++i)
    (ends[i].sends ? links->to : links->from)[ends[i].peer] = std::move((*opened)[i]);
  return links;
}

void PeerLinks::begin(std::size_t longest) {
  direct = longest <= Transport::bufferedBytes;
  if (!direct && !sender)
    sender = std::make_unique<SendThread>();
  if (landing.size() < longest)
    landing.resize(longest);
}

Status PeerLinks::send(int peer, const void *data, std::size_t bytes) {
  if (bytes == 0)
    return Status::ok();
  if (direct)
    return to[peer]->send(data, bytes);
  sender->push(*to[peer], data, bytes);
  return Status::ok();
}

Status PeerLinks::receive(int peer, void *data, std::size_t bytes) {
  return bytes == 0 ? Status::ok() : from[peer]->receive(data, bytes);
}

Status PeerLinks::receiveSum(int peer, void *data, std::size_t bytes) {
  return receive(peer, data, bytes);
}

Status PeerLinks::receiveAside(int peer, std::size_t bytes) {
  return receive(peer, landing.data(), bytes);
}

void PeerLinks::addReceived(void *into, std::size_t bytes, ElementType type) {
  addInto(type, into, landing.data(), bytes / core::elementBytes(type));
}

void PeerLinks::roundAsSent(void *data, std::size_t bytes) const {
  for (const auto &links : {&to, &from})
    for (const std::unique_ptr<Link> &link : *links)
      if (link)
        return link->roundAsSent(data, bytes);
}

Status PeerLinks::receiveAndAdd(int peer, void *into, std::size_t bytes, ElementType type) {
  Status s = receiveAside(peer, bytes);
  if (s)
    addReceived(into, bytes, type);
  return s;
}

} // namespace syncline::transport
