// The server's poll loop: requests, pings and verdicts.
#include "runtime/transport/StoreServer.h"

#include "runtime/core/Guarded.h"
#include "syncline/Printable.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <poll.h>
#include <sys/socket.h>

namespace syncline::transport {

static int toInt(const std::string &text) {
  int value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// The deadline in so many milliseconds, which may be more than an int holds. A text that is no
/// number gives a deadline that has passed.
static core::Deadline deadlineFrom(const std::string &text) {
  std::int64_t milliseconds = 0;
  std::from_chars(text.data(), text.data() + text.size(), milliseconds);
  return core::deadlineIn(static_cast<double>(milliseconds) / 1e3);
}

StoreServer::StoreServer(Socket listener, int size, const core::RankNames &names, RunKey key)
    : newcomers(std::move(listener)), size(size), names(names), key(std::move(key)) {
  thread = std::thread([this] { serve(); });
}

StoreServer::~StoreServer() {
  stop = true;
  wake.second.close();
  thread.join();
}

std::string StoreServer::reachableAddress() const {
  std::lock_guard lock(addressMutex);
  return address;
}

core::Deadline StoreServer::nextTimer() const {
  core::Deadline next = newcomers.nextTimer();
  for (const auto &p : peers)
    if (p->waiter)
      next = std::min(next, p->waiter->deadline);
  return investigation ? std::min(next, investigation->end) : next;
}

void StoreServer::serve() {
  const Status served = core::guarded([this] {
    while (!stop && serveOnce()) {
    }
    for (auto &p : peers)
      if (p->watch)
        send(*p, {"bye"});
    return Status::ok();
  });
  if (served)
    return;
  // A rank that cannot be told sees its connection close.
  static_cast<void>(
      core::guarded([&] { return announce(0, "failed", served.message()), Status::ok(); }));
  peers.clear();
}

/// Waits for input or the next timer, and serves all that came. Returns false where the system
/// cannot wait.
bool StoreServer::serveOnce() {
  std::vector<pollfd> fds{{wake.first.get(), POLLIN, 0}};
  for (const auto &p : peers)
    fds.push_back({p->socket.get(), POLLIN, 0});
  newcomers.addTo(fds);
  int wait = static_cast<int>(core::remaining(nextTimer()).count());
  if (poll(fds.data(), fds.size(), wait) < 0 && errno != EINTR)
    return false;
  // Peers that arrive in this round were not polled, so only the earlier ones are read.
  const std::size_t known = peers.size();
  for (std::size_t i = 0; i < known; ++i)
    if (fds[1 + i].revents)
      readPeer(*peers[i]);
  for (Newcomers::Arrival &a : newcomers.serve(std::span(fds).subspan(1 + known)))
    greet(std::move(a));
  answerWaiters();
  if (investigation && core::Clock::now() >= investigation->end)
    decide();
  std::erase_if(peers, [](const auto &p) { return p->closed; });
  return true;
}

void StoreServer::greet(Newcomers::Arrival arrival) {
  const Frame &hello = arrival.hello;
  if (hello.size() != 5 || hello[0] != key.protocol() ||
      (hello[1] != "watch" && hello[1] != "store"))
    return;
  auto peer = std::make_unique<Peer>(Peer{std::move(arrival.socket), std::move(arrival.rest)});
  if (std::string reason = reasonToTurnAway(hello); !reason.empty()) {
    send(*peer, {"error", reason});
    if (turnedAway.size() < maxTurnedAway &&
        std::find(turnedAway.begin(), turnedAway.end(), reason) == turnedAway.end())
      turnedAway.push_back(reason);
    return;
  }
  if (!end.empty()) {
    send(*peer, end);
    return;
  }
  peer->rank = toInt(hello[2]);
  peer->watch = hello[1] == "watch";
  learnAddress(peer->socket);
  send(*peer, {"ok"});
  peers.push_back(std::move(peer));
  handleInput(*peers.back());
}

/// A job as text: "'Slurm job 7.0'".
static std::string describeJob(const std::string &job) {
  return job.empty() ? "a job without a name" : "'" + printable(job) + "'";
}

/// Why a connection is refused; empty for a rank of this run.
std::string StoreServer::reasonToTurnAway(const Frame &hello) const {
  const int rank = toInt(hello[2]), theirs = toInt(hello[3]);
  const bool watch = hello[1] == "watch";
  if (hello[4] != key.job)
    return "rank " + std::to_string(rank) + " belongs to " + describeJob(hello[4]) +
           ", rank 0 to " + describeJob(key.job);
  if (const auto lost = gone.find(rank); lost != gone.end())
    return "the run has lost " + Verdict{rank, lost->second, ""}.describe(names) +
           " and goes on without it; no other process can take its place";
  if (theirs != size)
    return "rank " + std::to_string(rank) + " was started as one of " + std::to_string(theirs) +
           " ranks, rank 0 as one of " + std::to_string(size);
  const bool taken = std::any_of(peers.begin(), peers.end(), [&](const auto &p) {
    return p->rank == rank && p->watch == watch && !p->closed;
  });
  if (rank < 0 || rank >= size)
    return "rank " + std::to_string(rank) + " is none of " + std::to_string(size) + " ranks";
  if (taken)
    return "two processes were started as rank " + std::to_string(rank);
  return {};
}

void StoreServer::learnAddress(const Socket &socket) {
  if (std::string local = socket.localAddress(); !isLoopback(local)) {
    std::lock_guard lock(addressMutex);
    if (address.empty())
      address = local;
  }
}

void StoreServer::readPeer(Peer &peer) {
  char bytes[1 << 16];
  ssize_t n = recv(peer.socket.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (n > 0)
    peer.input.append(bytes, n);
  else
    peer.closed = true;
  handleInput(peer);
}

void StoreServer::handleInput(Peer &peer) {
  Frame frame;
  FrameState state = FrameState::incomplete;
  while ((state = decodeFrame(peer.input, frame)) == FrameState::complete) {
    if (frame.empty())
      peer.closed = true;
    else if (peer.watch)
      handleWatch(peer, frame);
    else
      handleStore(peer, frame);
  }
  if (state == FrameState::malformed)
    peer.closed = true;
  if (peer.closed)
    lost(peer);
}

void StoreServer::handleStore(Peer &peer, const Frame &frame) {
  const std::string &request = frame[0];
  if (!isComplete && frame.size() > 1)
    peer.keys.insert(frame[1]);
  if (!end.empty()) {
    send(peer, end);
  } else if (gone.contains(peer.rank)) {
    send(peer, {"lost", Verdict{peer.rank, "busy", ""}.describe(names)});
  } else if (request == "set" && frame.size() == 3) {
    values[frame[1]] = frame[2];
    owners[frame[1]] = peer.rank;
    send(peer, {"ok"});
  } else if (request == "get" && frame.size() == 3) {
    peer.waiter = Waiter{request, frame[1], deadlineFrom(frame[2])};
  } else if ((request == "gather" || request == "gather-workers") && frame.size() == 4) {
    gathered[frame[1]][peer.rank] = frame[2];
    peer.waiter = Waiter{request, frame[1], deadlineFrom(frame[3])};
  } else {
    peer.closed = true;
  }
}

/// Whether the peer's request can be answered now, and the reply. With `late` the deadline has
/// passed and the reply says so.
bool StoreServer::answer(const Peer &peer, bool late, Frame &reply) const {
  if (peer.waiter->request == "get") {
    auto found = values.find(peer.waiter->key);
    if (found != values.end())
      reply = {"ok", found->second};
    else if (late)
      reply = {"late"};
    return !reply.empty();
  }
  const int wanted = peer.waiter->request == "gather" ? size : std::min(size, names.workers);
  const auto &have = gathered.at(peer.waiter->key);
  std::vector<int> missing;
  for (int r = 0; r < wanted; ++r)
    if (!have.contains(r) && !gone.contains(r))
      missing.push_back(r);
  if (missing.empty()) {
    reply = {"ok"};
    for (const auto &[rank, value] : have)
      reply.push_back(value);
  } else if (late) {
    reply = {"late", names.of(missing), whoWasTurnedAway()};
  }
  return !reply.empty();
}

void StoreServer::answerWaiters() {
  // All ranks that wait for the same key are told that it is late when the first one is. Otherwise
  // the others would learn only that the first one has ended.
  std::set<std::string> late;
  for (const auto &p : peers)
    if (p->waiter && core::Clock::now() >= p->waiter->deadline)
      late.insert(p->waiter->key);
  for (auto &p : peers) {
    Frame reply;
    if (p->closed || !p->waiter)
      continue;
    if (!end.empty())
      reply = end;
    if (reply.empty() && !answer(*p, late.contains(p->waiter->key), reply))
      continue;
    if (p->waiter->request == "gather" && reply.front() == "ok")
      isComplete = true; // all ranks have given one value, and so agree on what they run
    p->waiter.reset();
    send(*p, reply);
  }
}

/// The refused connections, for the message to ranks that miss another rank.
std::string StoreServer::whoWasTurnedAway() const {
  std::string text;
  for (const std::string &reason : turnedAway)
    text += (text.empty() ? "turned away: " : ", ") + reason;
  if (std::string trouble = newcomers.trouble(); !trouble.empty())
    text += (text.empty() ? "" : "; ") + ("rank 0 could not take all connections: " + trouble);
  return text;
}

void StoreServer::handleWatch(Peer &peer, const Frame &frame) {
  if (frame[0] == "bye") {
    peer.done = true;
    departed.insert(peer.rank);
  } else if (frame[0] == "report" && frame.size() == 3) {
    investigate(peer.rank, toInt(frame[1]));
  } else if (frame[0] == "failed" && frame.size() == 2) {
    announce(peer.rank, "failed", frame[1]);
  } else if (frame[0] == "stop" && frame.size() == 2) {
    if (const int signal = toInt(frame[1]); asked == 0 && signal > 0 && signal < 64)
      asked = signal;
  } else if (frame[0] == "pong" && frame.size() == 2 && investigation) {
    investigation->waitsFor[peer.rank] = toInt(frame[1]);
  }
}

void StoreServer::lost(const Peer &peer) {
  if (peer.watch && !peer.done)
    announce(peer.rank, "ended", "");
  if (!peer.watch && !isComplete)
    forget(peer);
}

void StoreServer::forget(const Peer &peer) {
  for (const std::string &key : peer.keys) {
    if (const auto set = owners.find(key); set != owners.end() && set->second == peer.rank)
      values.erase(key);
    gathered[key].erase(peer.rank);
  }
}

void StoreServer::investigate(int reporter, int peer) {
  if (decided || investigation)
    return;
  investigation = Investigation{reporter, peer, core::deadlineIn(grace), {}};
  for (auto &p : peers)
    if (p->watch && !p->closed)
      send(*p, {"ping"});
}

void StoreServer::decide() {
  const Investigation found = *investigation;
  investigation.reset();
  int culprit = found.peer;
  std::set<int> seen{found.reporter};
  while (seen.insert(culprit).second) {
    if (departed.contains(culprit))
      return announce(culprit, "ended", "");
    auto next = found.waitsFor.find(culprit);
    if (next == found.waitsFor.end() || next->second < 0)
      return announce(culprit, next == found.waitsFor.end() ? "stuck" : "busy", "");
    culprit = next->second;
  }
  // The ranks wait in a circle. A rank that does not answer is at fault, otherwise the one that was
  // reported first.
  for (int r = 0; r < size; ++r)
    if (!found.waitsFor.contains(r) && !departed.contains(r))
      return announce(r, "stuck", "");
  announce(found.peer, "busy", "");
}

void StoreServer::announce(int culprit, const std::string &kind, const std::string &message) {
  if (decided || goesOnWithout(culprit, kind))
    return;
  decided = true;
  investigation.reset();
  end = {"lost", Verdict{culprit, kind, message}.describe(names)};
  for (auto &p : peers)
    if (p->watch && !p->closed)
      send(*p, {"verdict", std::to_string(culprit), kind, message});
}

void StoreServer::spare(const std::set<int> &ranks) {
  std::lock_guard lock(sparedMutex);
  spared = ranks;
}

/// Whether the run goes on without the culprit. All ranks are told, again too, because one that
/// reports it waits for an answer.
bool StoreServer::goesOnWithout(int culprit, const std::string &kind) {
  {
    std::lock_guard lock(sparedMutex);
    if (kind == "failed" || !spared.contains(culprit))
      return false;
  }
  investigation.reset();
  gone.try_emplace(culprit, kind);
  for (auto &p : peers)
    if (p->watch && !p->closed)
      send(*p, {p->rank == culprit ? "verdict" : "gone", std::to_string(culprit), kind, ""});
  return true;
}

void StoreServer::send(Peer &peer, const Frame &frame) {
  // Answers are small. A peer that does not take even these counts as lost.
  if (!sendFrame(peer.socket, frame, core::deadlineIn(0.2)))
    peer.closed = true;
}

} // namespace syncline::transport
