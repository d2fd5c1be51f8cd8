// Requests and their answers.
#include "runtime/servers/ShardServer.h"

#include <cmath>
#include <string>

namespace syncline::servers {
namespace {

std::string nameOf(Request::Kind kind) {
  switch (kind) {
  case Request::Kind::initialise:
    return "'initialise'";
  case Request::Kind::push:
    return "'push'";
  case Request::Kind::read:
    return "'read'";
  case Request::Kind::elastic:
    return "'elastic'";
  case Request::Kind::tick:
    return "'tick'";
  case Request::Kind::leave:
    return "'leave'";
  }
  return std::to_string(static_cast<std::int32_t>(kind));
}

/// The error for what a worker sent. Other ranks are trusted, but one with broken memory or another
/// program should be found, and not its server blamed.
Status unexpected(int worker, const Request &request, const std::string &why = "out of place") {
  return Status::badInput("rank " + std::to_string(worker) + " sent request " +
                          nameOf(request.kind) + " " + why);
}

/// Ok where the request has the clock that follows `last`, which it becomes.
Status advance(int worker, const Request &request, std::int64_t by, std::int64_t &last) {
  if (request.clock != last + by)
    return unexpected(worker, request,
                      "of clock " + std::to_string(request.clock) + ", expected " +
                          std::to_string(last + by));
  last = request.clock;
  return Status::ok();
}

Status sendWaiting(Connection &at, const Awaited &late) {
  return sendMessage(*at.to, Reply{Reply::Kind::waiting, late.worker, late.clock});
}

} // namespace

ShardServer::ShardServer(const Options &options, Connections &connections)
    : lost(options.lost), valuePace(options.values), tickPace(options.ticks),
      valueClocks(connections.workers.size(), valuePace.first - valuePace.by),
      tickClocks(connections.workers.size(), tickPace.first - tickPace.by),
      connections(connections), shard(options.bytes / sizeof(float), options.shard),
      keeper(options.keeper) {}

bool ShardServer::isLost(int worker) {
  forgetLost();
  const std::vector<int> now = lost();
  return std::ranges::find(now, worker) != now.end();
}

/// Nobody waits for workers that are lost.
void ShardServer::forgetLost() {
  for (int worker : lost()) {
    shard.leave(worker);
    auto held = monitor.lock();
    keeper.leave(worker);
    finished.insert(worker);
    monitor.changed();
  }
}

bool ShardServer::isDone() {
  forgetLost();
  auto held = monitor.lock();
  return static_cast<int>(finished.size()) == workers();
}

bool ShardServer::waitUntilDone(const std::function<bool()> &meanwhile) {
  auto held = monitor.lock();
  const auto isMet = [&] { return static_cast<int>(finished.size()) == workers(); };
  return monitor.wait(held, isMet, [&] { return forgetLost(), meanwhile(); }).has_value();
}

int ShardServer::stopSignal() {
  auto held = monitor.lock();
  return signal;
}

Status ShardServer::check(int worker, const Request &request) {
  std::int64_t &last = valueClocks[static_cast<std::size_t>(worker)];
  switch (request.kind) {
  case Request::Kind::initialise:
    return worker == 0 ? Status::ok() : unexpected(worker, request, "which rank 0 alone sends");
  case Request::Kind::push:
    return advance(worker, request, valuePace.by, last);
  case Request::Kind::elastic:
    SYNCLINE_TRY(advance(worker, request, valuePace.by, last));
    return checkFactor(worker, request.factor);
  case Request::Kind::read:
    if (request.need == allHaveLeft || (request.clock == last && request.need <= last))
      return Status::ok();
    return unexpected(worker, request,
                      "of clock " + std::to_string(request.clock) + " for clock " +
                          std::to_string(request.need) + ", expected clock " +
                          std::to_string(last) + " and at most that");
  case Request::Kind::tick:
  case Request::Kind::leave:
    break;
  }
  return Status::ok(); // or answer() refuses it
}

/// All workers mix by the same factor.
Status ShardServer::checkFactor(int worker, double own) {
  auto held = monitor.lock();
  if (!factor)
    factor = {worker, own};
  if (std::isfinite(own) && own >= 0 && own == factor->second)
    return Status::ok();
  return Status::badInput("rank " + std::to_string(worker) + " sent request 'elastic' of factor " +
                          std::to_string(own) + ", rank " + std::to_string(factor->first) +
                          " of factor " + std::to_string(factor->second));
}

Status ShardServer::serve(int worker) {
  Connection &at = connections.workers[worker];
  std::vector<float> values(shard.bytes() / sizeof(float)), reply(values.size());
  for (;;) {
    Request request{};
    Status s = receiveMessage(*at.from, request);
    if (s)
      s = check(worker, request);
    if (s)
      s = answer(worker, request, at, values, reply);
    if (!s)
      return isLost(worker) ? Status::ok() : s;
    if (request.kind == Request::Kind::read && request.need == allHaveLeft) {
      auto held = monitor.lock();
      finished.insert(worker);
      monitor.changed();
      return Status::ok();
    }
  }
}

Status ShardServer::answer(int worker, const Request &request, Connection &at,
                           std::vector<float> &values, std::vector<float> &reply) {
  Status failure;
  const auto tell = [&](const Awaited &late) {
    forgetLost();
    failure = sendWaiting(at, late);
    return failure.isOk();
  };
  const auto keepsQuiet = [&](const Awaited &) { return forgetLost(), true; };
  const auto arrived = core::Clock::now();
  const auto answerBy = [&](const std::optional<Shard::Copied> &copied) {
    return copied ? deliver(worker, request, at, *copied, reply) : failure;
  };
  switch (request.kind) {
  case Request::Kind::initialise:
  case Request::Kind::push:
  case Request::Kind::elastic:
    SYNCLINE_TRY(receiveValues(*at.from, values.data(), shard.bytes()));
    if (request.kind == Request::Kind::initialise)
      return shard.initialise(values) ? Status::ok() : unexpected(worker, request);
    note(Service::Kind::receive, worker, request, arrived);
    if (request.kind == Request::Kind::elastic)
      return answerBy(shard.elastic(worker, request.clock, values, request.factor, reply, tell));
    if (const auto begun = shard.push(worker, request.clock, values, keepsQuiet))
      note(Service::Kind::add, worker, request, *begun);
    return Status::ok();
  case Request::Kind::read:
    return answerBy(shard.read(worker, request.clock, request.need, reply, tell));
  case Request::Kind::leave:
    shard.leave(worker);
    return Status::ok();
  case Request::Kind::tick:
    break;
  }
  return unexpected(worker, request);
}

Status ShardServer::deliver(int worker, const Request &request, Connection &at,
                            const Shard::Copied &copied, const std::vector<float> &reply) {
  const bool isMixed = request.kind == Request::Kind::elastic;
  if (isMixed)
    note(Service::Kind::add, worker, request, copied.begun, copied.ended);
  const std::chrono::duration<double> held(copied.held);
  if (copied.held > 0)
    note(Service::Kind::park, worker, request,
         copied.begun - std::chrono::duration_cast<core::Clock::duration>(held), copied.begun);
  Reply ready{Reply::Kind::ready, worker, copied.least};
  ready.held = copied.held;
  Status s = sendMessage(*at.to, ready);
  if (s)
    s = sendValues(*at.to, reply.data(), shard.bytes());
  note(Service::Kind::send, worker, request, isMixed ? copied.ended : copied.begun);
  return s;
}

Status ShardServer::keep(int worker) {
  Connection &at = connections.ticks[worker];
  for (;;) {
    Request request{};
    Status s = receiveMessage(*at.from, request);
    if (s && request.kind == Request::Kind::leave) {
      auto held = monitor.lock();
      if (request.signal != 0) // it came after the worker's last tick
        signal = request.signal;
      keeper.leave(worker);
      monitor.changed();
      return Status::ok();
    }
    if (s)
      s = request.kind == Request::Kind::tick ? tick(worker, request, at)
                                              : unexpected(worker, request);
    if (!s)
      return isLost(worker) ? Status::ok() : s;
  }
}

Status ShardServer::tick(int worker, const Request &request, Connection &at) {
  SYNCLINE_TRY(advance(worker, request, tickPace.by, tickClocks[static_cast<std::size_t>(worker)]));
  Status failure;
  const auto arrived = core::Clock::now();
  auto held = monitor.lock();
  if (request.signal != 0)
    signal = request.signal;
  keeper.tick(worker, request.clock, core::secondsSince(began));
  monitor.changed();
  Awaited late;
  const auto mayGo = [&] {
    late = {keeper.slowest(), keeper.least()};
    return !keeper.isHeld(worker);
  };
  const auto meanwhile = [&] {
    forgetLost();
    failure = sendWaiting(at, late);
    return failure.isOk();
  };
  const std::optional<double> waited = monitor.wait(held, mayGo, meanwhile);
  if (!waited)
    return failure;
  const Reply grant{
      Reply::Kind::ready, worker, keeper.least(), keeper.lead(worker), signal, 0, *waited};
  held.unlock();
  note(Service::Kind::grant, worker, request, arrived);
  return sendMessage(*at.to, grant);
}

} // namespace syncline::servers
