// Requests to the StoreServer, and answers to its pings.
#include "runtime/transport/Store.h"

#include "runtime/core/Guarded.h"
#include "runtime/transport/StoreServer.h"

#include <charconv>
#include <set>
#include <sys/socket.h>

namespace syncline::transport {

using core::Deadline;

/// The deadline of an answer: `seconds` after the server's own deadline.
static Deadline answerBy(Deadline deadline, double seconds = 10) {
  return deadline + std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1e3));
}

static Result<Socket> join(const char *role, const std::string &host, int port, int rank, int size,
                           Deadline deadline, const RunKey &key) {
  Result<Socket> socket = Socket::connect(host, port, deadline);
  if (!socket && socket.status().kind() == ErrorKind::peerLost)
    return Status::error(ErrorKind::peerLost,
                         "rank 0 does not answer: " + socket.status().message());
  if (!socket)
    return socket;
  Frame reply;
  Frame hello{key.protocol(), role, std::to_string(rank), std::to_string(size), key.job};
  const std::string place = host + ":" + std::to_string(port);
  if (!sendFrame(*socket, hello, deadline) ||
      !receiveFrame(*socket, reply, deadline, maxWelcomeBytes) || reply.empty())
    return Status::badInput(core::Clock::now() < deadline
                                ? "no right answer at " + place +
                                      ": rank 0 of this run has ended or was given another "
                                      "secret, or another program listens there"
                                : "no answer in time at " + place +
                                      ": rank 0 of this run cannot take connections, or "
                                      "another program listens there");
  if (reply[0] == "lost" && reply.size() == 2)
    return Status::error(ErrorKind::peerLost, "lost " + reply[1] + " during start-up");
  if (reply[0] != "ok")
    return Status::badInput(reply.size() > 1 ? reply[1] : "rank 0 refused this rank");
  return socket;
}

Result<Store> Store::connect(const std::string &host, int port, int rank, int size,
                             Deadline deadline, const RunKey &key) {
  SYNCLINE_TRY_GET(socket, join("store", host, port, rank, size, deadline, key));
  return Store(std::move(*socket));
}

Result<Frame> Store::request(const Frame &frame, Deadline deadline) {
  Frame reply;
  if (!sendFrame(socket, frame, deadline) || !receiveFrame(socket, reply, deadline) ||
      reply.empty())
    return Status::error(ErrorKind::peerLost, "rank 0 ended or does not answer " + phase);
  if (reply.size() == 2 && reply[0] == "lost")
    return Status::error(ErrorKind::peerLost, "lost " + reply[1] + " " + phase);
  return reply;
}

Status Store::set(const std::string &key, const std::string &value, double seconds) {
  Result<Frame> reply = request({"set", key, value}, core::deadlineIn(seconds));
  return reply ? Status::ok() : reply.status();
}

Result<std::optional<std::string>> Store::get(const std::string &key, Deadline deadline,
                                              double grace) {
  SYNCLINE_TRY_GET(reply, request({"get", key, std::to_string(core::remaining(deadline).count())},
                                  answerBy(deadline, grace)));
  return reply->size() == 2 ? std::optional(reply->at(1)) : std::nullopt;
}

Result<std::vector<std::string>> Store::gather(const std::string &key, const std::string &value,
                                               Deadline deadline, bool workersOnly) {
  SYNCLINE_TRY_GET(reply, request({workersOnly ? "gather-workers" : "gather", key, value,
                                   std::to_string(core::remaining(deadline).count())},
                                  answerBy(deadline)));
  if (reply->at(0) != "ok") {
    std::string message = "no sign in time of " + (reply->size() > 1 ? reply->at(1) : "a rank");
    if (reply->size() > 2 && !reply->at(2).empty())
      message += "; " + reply->at(2);
    return Status::error(ErrorKind::peerLost, message);
  }
  reply->erase(reply->begin());
  return std::move(*reply);
}

std::string Verdict::describe(const core::RankNames &names) const {
  std::string who = names.of(rank);
  if (kind == "ended")
    return who + " (its process ended)";
  if (kind == "stuck")
    return who + " (it does not answer)";
  if (kind == "busy")
    return who + " (it answers, but did not come in time)";
  return who + " (it failed: " + message + ")";
}

Result<std::unique_ptr<Watch>> Watch::connect(const std::string &host, int port, int rank, int size,
                                              Deadline deadline, const RunKey &key) {
  SYNCLINE_TRY_GET(socket, join("watch", host, port, rank, size, deadline, key));
  return std::unique_ptr<Watch>(new Watch(std::move(*socket), rank));
}

Watch::Watch(Socket s, int rank)
    : socket(std::move(s)), rank(rank), thread([this] { listenGuarded(); }) {}

Watch::~Watch() {
  depart();
  shutdown(socket.get(), SHUT_RDWR);
  thread.join();
}

void Watch::tell(const Frame &frame) {
  std::lock_guard lock(sendMutex);
  sendFrame(socket, frame, core::deadlineIn(1));
}

void Watch::depart() {
  leaving = true;
  tell({"bye"});
}

void Watch::listenGuarded() {
  const Status s = core::guarded([this] { return listen(), Status::ok(); });
  if (s)
    return;
  static_cast<void>(core::guarded([&] { return fail(s.message()), Status::ok(); }));
  conclude({rank, "failed", s.message()});
}

/// The number of a rank; -1 for a text that is no number.
static int rankIn(const std::string &text) {
  int rank = -1;
  std::from_chars(text.data(), text.data() + text.size(), rank);
  return rank;
}

void Watch::listen() {
  Frame frame;
  while (receiveFrame(socket, frame, core::deadlineIn(1e8)) && !frame.empty()) {
    if (frame[0] == "bye")
      return;
    if (frame[0] == "ping")
      tell({"pong", std::to_string(waitsMostFor())});
    else if (frame[0] == "verdict" && frame.size() == 4)
      conclude({rankIn(frame[1]), frame[2], frame[3]});
    else if (frame[0] == "gone" && frame.size() == 4)
      goOnWithout({rankIn(frame[1]), frame[2], frame[3]});
  }
  if (!leaving)
    conclude({0, "ended", ""});
}

void Watch::conclude(Verdict v) {
  {
    std::lock_guard lock(mutex);
    if (found)
      return;
    found = std::move(v);
  }
  changed.notify_all();
  std::lock_guard lock(callMutex);
  if (concluded)
    concluded();
}

void Watch::whenConcluded(std::function<void()> call) {
  std::lock_guard lock(callMutex);
  concluded = std::move(call);
  if (concluded && verdict())
    concluded();
}

void Watch::goOnWithout(Verdict v) {
  {
    std::lock_guard lock(mutex);
    ++told;
    std::erase_if(gone, [&](const Verdict &known) { return known.rank == v.rank; });
    gone.push_back(std::move(v));
  }
  changed.notify_all();
}

std::vector<Verdict> Watch::lost() const {
  std::lock_guard lock(mutex);
  return gone;
}

Watch::Waiting::Waiting(Watch *watch, int peer, bool sends)
    : watch(watch), peer(peer), sends(sends) {
  if (!watch)
    return;
  std::lock_guard lock(watch->waitsMutex);
  earlier = watch->lastWait;
  (earlier ? earlier->later : watch->firstWait) = this;
  watch->lastWait = this;
}

Watch::Waiting::~Waiting() {
  if (!watch)
    return;
  std::lock_guard lock(watch->waitsMutex);
  (earlier ? earlier->later : watch->firstWait) = later;
  (later ? later->earlier : watch->lastWait) = earlier;
}

/// The peer of the longest wait in a receive, or -1 without any wait. Sends come second, because a
/// send may wait only until full buffers are emptied.
int Watch::waitsMostFor() const {
  std::lock_guard lock(waitsMutex);
  for (const Waiting *w = firstWait; w; w = w->later)
    if (!w->sends)
      return w->peer;
  return firstWait ? firstWait->peer : -1;
}

std::vector<int> Watch::waitsFor() const {
  std::set<int> peers;
  std::lock_guard lock(waitsMutex);
  for (const Waiting *w = firstWait; w; w = w->later)
    peers.insert(w->peer);
  return {peers.begin(), peers.end()};
}

std::optional<Verdict> Watch::verdict() const {
  std::lock_guard lock(mutex);
  return found;
}

Verdict Watch::report(int peer, const std::string &message) {
  if (std::optional<Verdict> known = verdict())
    return *known;
  std::int64_t before = 0;
  {
    std::lock_guard lock(mutex);
    for (const Verdict &known : gone)
      if (known.rank == peer)
        return known;
    before = told;
  }
  tell({"report", std::to_string(peer), message});
  std::unique_lock lock(mutex);
  auto waiting = std::chrono::duration<double>(2 * StoreServer::grace);
  if (changed.wait_for(lock, waiting, [&] { return found || told > before; }))
    return found ? *found : gone.back();
  // Rank 0, which gives the verdicts, does not answer.
  return {0, "stuck", ""};
}

Status Watch::blame(int own, int peer, const std::string &message, const core::RankNames &names) {
  const Verdict found = report(peer, message);
  if (found.rank == own && found.kind != "failed")
    return Status::error(ErrorKind::peerLost, "the other ranks gave this rank up: it was late");
  return Status::error(ErrorKind::peerLost, "lost " + found.describe(names));
}

void Watch::askToStop(int signal) { tell({"stop", std::to_string(signal)}); }

void Watch::fail(const std::string &message) { tell({"failed", message}); }

} // namespace syncline::transport
