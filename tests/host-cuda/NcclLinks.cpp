// Sockets between ranks.
#include "tests/host-cuda/NcclLinks.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <random>
#include <stdexcept>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace syncline::hostcuda {

namespace {

/// How long an abort may go unnoticed.
constexpr int pollMilliseconds = 20;

/// What a rank is told when all have come.
struct Welcome {
  char refusal[160]; ///< empty: the ports of all ranks follow
};

[[noreturn]] void fail(const char *call) {
  throw std::runtime_error(std::string(call) + ": " + std::strerror(errno));
}

sockaddr_in address(std::uint16_t port) {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  place.sin_port = htons(port);
  return place;
}

void prepare(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

Socket listenAnywhere(std::uint16_t &port) {
  Socket listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in place = address(0);
  socklen_t length = sizeof place;
  if (listener.get() < 0 || bind(listener.get(), reinterpret_cast<sockaddr *>(&place), length) ||
      listen(listener.get(), 128) ||
      getsockname(listener.get(), reinterpret_cast<sockaddr *>(&place), &length))
    fail("listen");
  fcntl(listener.get(), F_SETFL, O_NONBLOCK);
  port = ntohs(place.sin_port);
  return listener;
}

Socket connectTo(std::uint16_t port) {
  Socket link(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in place = address(port);
  if (link.get() < 0 ||
      ::connect(link.get(), reinterpret_cast<const sockaddr *>(&place), sizeof place))
    fail("connect");
  prepare(link.get());
  return link;
}

/// Whether something may be done with the socket; false after `aborted`.
bool waitFor(int fd, short what, const std::atomic<bool> &aborted) {
  while (!aborted) {
    pollfd one{fd, what, 0};
    if (poll(&one, 1, pollMilliseconds) > 0)
      return true;
  }
  return false;
}

/// As much as goes at once; -1 where the other side is gone.
std::ptrdiff_t attempt(std::ptrdiff_t result, bool isReceived) {
  if (result > 0)
    return result;
  const bool isLater = result < 0 && (errno == EAGAIN || errno == EINTR);
  return isLater || (result == 0 && !isReceived) ? 0 : -1;
}

std::ptrdiff_t sendSome(int fd, std::span<const std::byte> &bytes) {
  const auto sent = attempt(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), false);
  if (sent > 0)
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  return sent;
}

std::ptrdiff_t receiveSome(int fd, std::span<std::byte> &bytes) {
  const auto received = attempt(recv(fd, bytes.data(), bytes.size(), 0), true);
  if (received > 0)
    bytes = bytes.subspan(static_cast<std::size_t>(received));
  return received;
}

/// Steps over what is complete. Whether something is left.
bool findNext(const std::vector<std::span<const std::byte>> &out, std::size_t &at) {
  while (at < out.size() && out[at].empty())
    ++at;
  return at < out.size();
}
bool findNext(const std::vector<Incoming> &in, std::size_t &at) {
  for (; at < in.size() && in[at].bytes.empty(); ++at)
    if (in[at].arrived)
      in[at].arrived();
  return at < in.size();
}

/// All of it, waiting; false where the other side is gone, or after `aborted`.
bool sendAll(int fd, std::span<const std::byte> bytes, const std::atomic<bool> &aborted) {
  while (!bytes.empty())
    if (!waitFor(fd, POLLOUT, aborted) || sendSome(fd, bytes) < 0)
      return false;
  return true;
}

bool receiveAll(int fd, std::span<std::byte> bytes, const std::atomic<bool> &aborted) {
  while (!bytes.empty())
    if (!waitFor(fd, POLLIN, aborted) || receiveSome(fd, bytes) < 0)
      return false;
  return true;
}

template <typename T> std::span<const std::byte> bytesOf(const T &value) {
  return std::as_bytes(std::span(&value, 1));
}
template <typename T> std::span<std::byte> writableBytesOf(T &value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

/// The next connection, with the arrival it begins with.
Socket acceptArrival(const Socket &listener, Arrival &arrival, const std::atomic<bool> &aborted) {
  while (waitFor(listener.get(), POLLIN, aborted)) {
    Socket link(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (link.get() < 0)
      continue;
    prepare(link.get());
    if (receiveAll(link.get(), writableBytesOf(arrival), aborted))
      return link;
  }
  return Socket();
}

/// What is wrong with these ranks, or nothing.
std::string refusalOf(const std::vector<Arrival> &arrivals) {
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    const Arrival &own = arrivals[i];
    if (own.ranks != arrivals[0].ranks || own.rank < 0 || own.rank >= own.ranks)
      return "ranks " + std::to_string(own.rank) + " of " + std::to_string(own.ranks) + " and " +
             std::to_string(arrivals[0].rank) + " of " + std::to_string(arrivals[0].ranks);
    for (std::size_t j = 0; j < i; ++j) {
      const std::string both =
          std::to_string(arrivals[j].rank) + " and rank " + std::to_string(own.rank);
      if (own.rank == arrivals[j].rank)
        return "two ranks " + std::to_string(own.rank);
      if (std::strcmp(own.device, arrivals[j].device) == 0)
        return "Duplicate GPU detected : rank " + both + " both on CUDA device " + own.device;
    }
  }
  return {};
}

/// Receives all ranks, and tells each where the others are.
void holdMeeting(const Socket &listener, std::uint64_t token) {
  const std::atomic<bool> never = false;
  std::vector<Socket> links;
  std::vector<Arrival> arrivals;
  std::string refusal;
  while (arrivals.empty() || arrivals.size() < static_cast<std::size_t>(arrivals[0].ranks)) {
    Arrival arrival;
    Socket link = acceptArrival(listener, arrival, never);
    if (arrival.token != token)
      continue;
    links.push_back(std::move(link));
    arrivals.push_back(arrival);
    if (refusal = refusalOf(arrivals); !refusal.empty())
      break;
  }
  Welcome welcome{};
  refusal.copy(welcome.refusal, sizeof welcome.refusal - 1);
  std::vector<std::uint16_t> ports(arrivals.size());
  for (const Arrival &arrival : arrivals)
    if (refusal.empty())
      ports[static_cast<std::size_t>(arrival.rank)] = arrival.port;
  for (const Socket &link : links)
    sendAll(link.get(), bytesOf(welcome), never) &&
        sendAll(link.get(), std::as_bytes(std::span(ports)), never);
}

} // namespace

Socket &Socket::operator=(Socket &&other) noexcept {
  std::swap(fd, other.fd);
  return *this;
}

Socket::~Socket() {
  if (fd >= 0)
    ::close(fd);
}

Meeting openMeeting() {
  Meeting meeting;
  std::random_device random;
  meeting.token = std::uint64_t{random()} << 32 | random();
  std::thread([listener = listenAnywhere(meeting.port), token = meeting.token] {
    holdMeeting(listener, token);
  }).detach();
  return meeting;
}

void Links::connect(const Meeting &meeting, int rank, int ranks, const std::string &device) {
  Arrival own{meeting.token, rank, ranks, 0, {}};
  device.copy(own.device, sizeof own.device - 1);
  const Socket listener = listenAnywhere(own.port);
  const Socket root = connectTo(meeting.port);
  Welcome welcome{};
  std::vector<std::uint16_t> ports(static_cast<std::size_t>(ranks));
  const bool isTold = sendAll(root.get(), bytesOf(own), aborted) &&
                      receiveAll(root.get(), writableBytesOf(welcome), aborted);
  if (aborted)
    return;
  if (welcome.refusal[0])
    throw std::runtime_error(welcome.refusal);
  if (!isTold || !receiveAll(root.get(), std::as_writable_bytes(std::span(ports)), aborted))
    throw std::runtime_error("rank 0 has gone");

  sockets.resize(static_cast<std::size_t>(ranks));
  for (int peer = 0; peer < rank; ++peer) {
    Socket link = connectTo(ports[static_cast<std::size_t>(peer)]);
    sendAll(link.get(), bytesOf(own), aborted);
    sockets[static_cast<std::size_t>(peer)] = std::move(link);
  }
  for (int missing = ranks - 1 - rank; missing > 0;) {
    Arrival arrival{};
    Socket link = acceptArrival(listener, arrival, aborted);
    if (aborted)
      return;
    if (arrival.token != meeting.token)
      continue;
    sockets[static_cast<std::size_t>(arrival.rank)] = std::move(link);
    --missing;
  }
}

Outcome Links::exchange(std::vector<Traffic> traffic) {
  std::vector<std::size_t> sent(traffic.size()), received(traffic.size());
  while (!aborted) {
    std::vector<pollfd> open;
    std::vector<std::size_t> peers;
    for (std::size_t peer = 0; peer < traffic.size(); ++peer) {
      const bool sends = findNext(traffic[peer].out, sent[peer]);
      const bool receives = findNext(traffic[peer].in, received[peer]);
      if (!sends && !receives)
        continue;
      if (peer >= sockets.size())
        return Outcome::aborted; // closed
      const short what = static_cast<short>((sends ? POLLOUT : 0) | (receives ? POLLIN : 0));
      open.push_back({sockets[peer].get(), what, 0});
      peers.push_back(peer);
    }
    if (open.empty())
      return Outcome::done;
    if (poll(open.data(), open.size(), pollMilliseconds) <= 0)
      continue;
    for (std::size_t i = 0; i < open.size(); ++i) {
      const std::size_t peer = peers[i];
      const short can = open[i].revents, wants = open[i].events;
      const bool isGone = (can & (POLLERR | POLLHUP)) && !(can & POLLIN);
      if (isGone ||
          (can & wants & POLLIN &&
           receiveSome(open[i].fd, traffic[peer].in[received[peer]].bytes) < 0) ||
          (can & POLLOUT && sendSome(open[i].fd, traffic[peer].out[sent[peer]]) < 0)) {
        lostRank = static_cast<int>(peer);
        return Outcome::lost;
      }
    }
  }
  return Outcome::aborted;
}

} // namespace syncline::hostcuda
