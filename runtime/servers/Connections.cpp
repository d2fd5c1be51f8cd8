// Opening the links of a rank at once.
#include "runtime/servers/Connections.h"

#include "runtime/servers/LocalLink.h"
#include "syncline/PlanConstants.h"

#include <tuple>

namespace syncline::servers {
namespace {

/// Collects the ends to open, and where they belong.
class Opening {
public:
  explicit Opening(int own) : own(own) {}

  /// A connection of a worker's rank with a server's rank; this rank is one of them, and `into` is
  /// where its side goes.
  void between(const std::string &name, int worker, int server, Connection &into) {
    const bool serves = own == server;
    const int peer = serves ? worker : server;
    const std::string both =
        name + "/" + std::to_string(worker) + "-" + std::to_string(server) + "/";
    const std::string requests = both + "requests", replies = both + "replies";
    ends.push_back({peer, /*sends=*/!serves, requests, /*isPatient=*/serves});
    places.push_back(serves ? &into.from : &into.to);
    ends.push_back({peer, /*sends=*/serves, replies});
    places.push_back(serves ? &into.to : &into.from);
  }

  static void inside(Connection &worker, Connection &server) {
    std::tie(worker.to, server.from) = localLink();
    std::tie(server.to, worker.from) = localLink();
  }

  Status open(transport::Transport &transport) {
    if (ends.empty())
      return Status::ok();
    SYNCLINE_TRY_GET(links, transport.open(ends));
    for (std::size_t i = 0; i < places.size(); ++i)
      *places[i] = std::move((*links)[i]);
    return Status::ok();
  }

private:
  const int own;
  std::vector<transport::LinkEnd> ends;
  std::vector<std::unique_ptr<transport::Link> *> places;
};

template <typename F> Status inPieces(std::size_t bytes, const F &piece) {
  for (std::size_t at = 0; at < bytes; at += serverPieceBytes)
    SYNCLINE_TRY(piece(at, std::min(serverPieceBytes, bytes - at)));
  return Status::ok();
}

} // namespace

Result<Connections> Connections::open(transport::Transport &transport, const Roles &roles) {
  const int holders = roles.servers > 0 ? roles.servers : roles.workers;
  if (roles.workers < 1 || roles.servers < 0 || roles.workers + roles.servers != transport.size() ||
      roles.shards() < 1 || roles.shards() > holders)
    return Status::badInput(std::to_string(roles.workers) + " workers and " +
                            std::to_string(roles.servers) + " servers of " +
                            std::to_string(roles.shards()) + " shards do not make up " +
                            std::to_string(transport.size()) + " ranks");
  const int rank = transport.rank();
  const bool trains = rank < roles.workers, serves = roles.partOf(rank).size() > 0,
             keeps = rank == roles.rankOf(0);
  Connections made;
  if (trains)
    made.shards.resize(static_cast<std::size_t>(roles.shards()));
  if (serves)
    made.workers.resize(static_cast<std::size_t>(roles.workers));
  if (keeps)
    made.ticks.resize(static_cast<std::size_t>(roles.workers));

  Opening opening(rank);
  if (trains) {
    for (int shard = 0; shard < roles.shards(); ++shard)
      if (const int server = roles.rankOf(shard); server != rank)
        opening.between("values", rank, server, made.shards[shard]);
    if (!keeps)
      opening.between("ticks", rank, roles.rankOf(0), made.keeper);
  }
  for (int worker = 0; worker < roles.workers && serves; ++worker) {
    if (worker == rank)
      Opening::inside(made.shards[rank], made.workers[rank]);
    else
      opening.between("values", worker, rank, made.workers[worker]);
    if (keeps && worker == rank)
      Opening::inside(made.keeper, made.ticks[rank]);
    else if (keeps)
      opening.between("ticks", worker, rank, made.ticks[worker]);
  }
  SYNCLINE_TRY(opening.open(transport));
  return made;
}

Status sendValues(transport::Link &link, const void *data, std::size_t bytes) {
  const auto *begin = static_cast<const std::byte *>(data);
  return inPieces(bytes,
                  [&](std::size_t at, std::size_t size) { return link.send(begin + at, size); });
}

Status receiveValues(transport::Link &link, void *data, std::size_t bytes) {
  auto *begin = static_cast<std::byte *>(data);
  return inPieces(bytes,
                  [&](std::size_t at, std::size_t size) { return link.receive(begin + at, size); });
}

} // namespace syncline::servers
