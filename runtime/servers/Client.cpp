// Requests and their answers. Shards are asked in an order that begins at another one on each rank,
// so that workers spread over the servers.
#include "runtime/servers/Client.h"

#include "runtime/core/Deadline.h"

#include <algorithm>

namespace syncline::servers {

using Kind = core::ServerRequest::Kind;

Status Client::sendAll(const Request &request, std::span<const float> values) {
  const auto *begin = reinterpret_cast<const std::byte *>(values.data());
  for (int i = 0; i < roles.shards(); ++i) {
    const int index = (peers.rank() + i) % roles.shards();
    transport::Link &to = *connections.shards[index].to;
    SYNCLINE_TRY(sendMessage(to, request));
    if (!values.empty())
      SYNCLINE_TRY(sendValues(to, begin + roles.parts[index].begin, roles.parts[index].size()));
  }
  return Status::ok();
}

Result<std::int64_t> Client::receiveAll(std::span<float> values, RequestLog::Entry &entry) {
  auto *begin = reinterpret_cast<std::byte *>(values.data());
  std::int64_t least = allHaveLeft;
  for (int i = 0; i < roles.shards(); ++i) {
    const int index = (peers.rank() + i) % roles.shards();
    Connection &from = connections.shards[index];
    SYNCLINE_TRY_GET(ready, reply(from, entry));
    const core::Range part = roles.parts[index];
    SYNCLINE_TRY(receiveValues(*from.from, begin + part.begin, part.size()));
    least = std::min(least, ready->clock);
  }
  return least;
}

/// The answer to the oldest unanswered request of this connection.
Result<Reply> Client::reply(Connection &from, RequestLog::Entry &entry) {
  Reply found{};
  std::shared_ptr<void> waiting;
  Reply late{};
  core::Deadline limit;
  for (;;) {
    SYNCLINE_TRY(receiveMessage(*from.from, found));
    if (found.kind == Reply::Kind::ready) {
      entry.answered(found.held);
      return found;
    }
    if (found.kind != Reply::Kind::waiting || found.worker < 0 || found.worker >= roles.workers)
      return Status::error(ErrorKind::internal, "a server's answer is malformed");
    SYNCLINE_TRY(peers.verdict());
    if (!waiting || found.worker != late.worker || found.clock != late.clock) {
      late = found;
      waiting = peers.waitingFor(late.worker);
      limit = core::deadlineIn(peers.timeoutSeconds());
    } else if (core::Clock::now() > limit) {
      const Status lost = peers.blame(late.worker, "it did not come in time");
      const std::vector<int> without = peers.lost();
      if (std::ranges::find(without, late.worker) == without.end())
        return lost;
      // The run goes on without that worker, and the server will stop waiting for it.
      waiting = nullptr;
    }
  }
}

Status Client::initialise(std::span<const float> values) {
  return sendAll({Request::Kind::initialise}, values);
}

Status Client::push(std::span<const float> update, std::int64_t clock) {
  const RequestLog::Entry entry(requests, Kind::push, clock);
  Request request{Request::Kind::push};
  request.clock = clock;
  return sendAll(request, update);
}

Result<std::int64_t> Client::read(std::span<float> values, std::int64_t clock, std::int64_t need) {
  RequestLog::Entry entry(requests, Kind::read, clock);
  Request request{Request::Kind::read};
  request.clock = clock;
  request.need = need;
  const Status s = sendAll(request, {});
  return s ? receiveAll(values, entry) : s;
}

Status Client::elastic(std::span<const float> own, std::span<float> centre, std::int64_t clock,
                       double factor) {
  RequestLog::Entry entry(requests, Kind::elastic, clock);
  Request request{Request::Kind::elastic};
  request.clock = clock;
  request.factor = factor;
  const Status s = sendAll(request, own);
  return s ? receiveAll(centre, entry).status() : s;
}

Status Client::leave() { return sendAll({Request::Kind::leave}, {}); }

Status Client::tick(std::int64_t clock, int signal) {
  const RequestLog::Entry entry(requests, Kind::tick, clock);
  ticked.push_back(clock);
  Request request{Request::Kind::tick, signal};
  request.clock = clock;
  return sendMessage(*connections.keeper.to, request);
}

Result<Grant> Client::awaitGrant() {
  RequestLog::Entry entry(requests, Kind::grant, ticked.front());
  ticked.pop_front();
  SYNCLINE_TRY_GET(found, reply(connections.keeper, entry));
  return Grant{found->clock, found->lead, found->signal};
}

Status Client::leaveKeeper(int signal) {
  return sendMessage(*connections.keeper.to, Request{Request::Kind::leave, signal});
}

} // namespace syncline::servers
