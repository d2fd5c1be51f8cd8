// Connections that are identified by a secret.
#include "runtime/transport/RankConnections.h"

#include "runtime/core/Guarded.h"

#include <cerrno>
#include <charconv>
#include <random>
#include <sys/socket.h>

namespace syncline::transport {

std::string makeSecret() {
  std::random_device device;
  std::string text;
  for (int i = 0; i < 4; ++i)
    text += std::to_string(device()) + (i < 3 ? "-" : "");
  return text;
}

Result<std::unique_ptr<RankListener>> RankListener::open(const std::string &address) {
  SYNCLINE_TRY_GET(listener, Socket::listen(0, address));
  return std::unique_ptr<RankListener>(new RankListener(std::move(*listener), makeSecret()));
}

RankListener::RankListener(Socket listener, std::string secret)
    : newcomers(std::move(listener)), secret(std::move(secret)), port(newcomers.port()) {
  thread = std::thread([this] { serve(); });
}

RankListener::~RankListener() {
  stop = true;
  wake.second.close();
  thread.join();
}

std::string RankListener::place() const { return std::to_string(port) + " " + secret; }

void RankListener::serve() {
  const Status served = core::guarded([this] {
    while (!stop && serveOnce()) {
    }
    return Status::ok();
  });
  if (served)
    return;
  {
    std::lock_guard lock(mutex);
    problem = served.message();
    isAccepting = false;
  }
  arrived.notify_all();
}

/// Waits for input or the next timer, and serves all that came. Returns false where the system
/// cannot wait.
bool RankListener::serveOnce() {
  std::vector<pollfd> fds{{wake.first.get(), POLLIN, 0}};
  newcomers.addTo(fds);
  const int wait = static_cast<int>(core::remaining(newcomers.nextTimer()).count());
  if (poll(fds.data(), fds.size(), wait) < 0 && errno != EINTR)
    return false;
  std::vector<Newcomers::Arrival> arrivals = newcomers.serve(std::span(fds).subspan(1));
  std::lock_guard lock(mutex);
  for (Newcomers::Arrival &a : arrivals)
    if (a.hello.size() == 3 && a.hello[0] == "syncline-link" && a.hello[1] == secret &&
        sendFrame(a.socket, {"ok"}, core::deadlineIn(0.2)))
      connections[a.hello[2]] = std::move(a.socket);
  problem = newcomers.trouble();
  arrived.notify_all();
  return true;
}

std::optional<Socket> RankListener::take(const std::string &name, const ConnectLimit &limit) {
  constexpr auto slice = std::chrono::milliseconds(100);
  std::unique_lock lock(mutex);
  while (!arrived.wait_for(lock, slice, [&] { return connections.contains(name); })) {
    const bool goesOn = isAccepting;
    lock.unlock();
    if (!goesOn || limit.hasPassed())
      return std::nullopt;
    lock.lock();
  }
  Socket found = std::move(connections.at(name));
  connections.erase(name);
  return found;
}

std::string RankListener::trouble() const {
  std::lock_guard lock(mutex);
  return problem;
}

/// One attempt of connectToRank(), with its errors.
static Result<Socket> attempt(const std::string &host, int port, const Frame &hello,
                              const ConnectLimit &limit) {
  auto soon = [&](double seconds) { return std::min(limit.deadline, core::deadlineIn(seconds)); };
  // Long enough to repeat a lost packet of the handshake, and short enough to notice a lost rank.
  SYNCLINE_TRY_GET(socket, Socket::connect(host, port, soon(3)));
  const Status silent = Status::error(ErrorKind::peerLost, "no rank of this run answers at " +
                                                               host + ":" + std::to_string(port));
  Frame reply;
  if (!sendFrame(*socket, hello, soon(Newcomers::helloSeconds)))
    return silent;
  while (!socket->hasInput(soon(0.1)))
    if (limit.hasPassed())
      return silent;
  if (!receiveFrame(*socket, reply, soon(Newcomers::helloSeconds), maxHelloBytes) ||
      reply != Frame{"ok"})
    return silent;
  return socket;
}

Result<Socket> connectToRank(const std::string &host, const std::string &place,
                             const std::string &name, const ConnectLimit &limit) {
  const std::size_t space = place.find(' ');
  int port = 0;
  std::from_chars(place.data(), place.data() + place.size(), port);
  if (port <= 0 || space == std::string::npos)
    return Status::error(ErrorKind::internal, "no place to connect to: '" + place + "'");
  const Frame hello{"syncline-link", place.substr(space + 1), name};
  for (;;) {
    Result<Socket> socket = attempt(host, port, hello, limit);
    if (socket || socket.status().kind() != ErrorKind::peerLost || limit.hasPassed())
      return socket;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

} // namespace syncline::transport
