// TCP sockets with deadlines.
#include "runtime/transport/Socket.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace syncline::transport {

using core::Deadline;

Socket &Socket::operator=(Socket &&other) noexcept {
  if (this != &other) {
    close();
    fd = other.release();
  }
  return *this;
}

int Socket::release() { return std::exchange(fd, -1); }

void Socket::close() {
  if (fd >= 0)
    ::close(fd);
  fd = -1;
}

/// A socket that listens on `port` of `address`, or of all the family's addresses if it is empty.
/// After a failure it is not open, and errno has the reason.
static Socket listenOnce(int family, int port, const std::string &address) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = family;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV;
  errno = EADDRNOTAVAIL;
  if (getaddrinfo(address.empty() ? nullptr : address.c_str(), std::to_string(port).c_str(), &hints,
                  &found) != 0)
    return {};
  Socket s(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1, off = 0;
  if (s.isOpen()) {
    setsockopt(s.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    // Without an address, one socket serves IPv4 and IPv6.
    if (found->ai_family == AF_INET6)
      setsockopt(s.get(), IPPROTO_IPV6, IPV6_V6ONLY, address.empty() ? &off : &on, sizeof on);
    if (bind(s.get(), found->ai_addr, found->ai_addrlen) != 0 || ::listen(s.get(), SOMAXCONN) != 0)
      s.close();
  }
  const int error = errno;
  freeaddrinfo(found);
  errno = error;
  return s;
}

Result<Socket> Socket::listen(int port, const std::string &address) {
  // On a host without IPv6, listen on IPv4 alone.
  for (int family : {AF_INET6, AF_INET}) {
    Socket s = listenOnce(family, port, address);
    if (s.isOpen())
      return s;
    if (errno == EADDRINUSE)
      break;
  }
  return Status::badInput("cannot listen on port " + std::to_string(port) + ": " +
                          std::strerror(errno));
}

static bool waitFor(int fd, short events, Deadline deadline) {
  for (;;) {
    pollfd p{fd, events, 0};
    int n = poll(&p, 1,
                 static_cast<int>(std::min<std::int64_t>(core::remaining(deadline).count(), 1000)));
    if (n > 0)
      return true;
    if (n < 0 && errno != EINTR)
      return false;
    if (core::Clock::now() >= deadline)
      return false;
  }
}

/// Connects once. After a failure the result is not open, and `error` is the errno.
static Socket connectOnce(const addrinfo &where, Deadline deadline, int &error) {
  Socket s(::socket(where.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  error = errno;
  if (!s.isOpen())
    return {};
  if (::connect(s.get(), where.ai_addr, where.ai_addrlen) != 0) {
    error = errno;
    if (error != EINPROGRESS)
      return {};
    error = ETIMEDOUT;
    if (!waitFor(s.get(), POLLOUT, deadline))
      return {};
    socklen_t size = sizeof error;
    if (getsockopt(s.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0)
      return {};
  }
  int on = 1;
  setsockopt(s.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return s;
}

/// Whether the process or the machine has no free file descriptor.
static bool isOutOfFiles(int error) { return error == EMFILE || error == ENFILE; }

/// The addresses of a host.
using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

/// Asks for a host's addresses until it has some or the deadline passes: a name server may learn of
/// a host only once that runs. Without addresses `error` is the last answer.
static Addresses resolve(const std::string &host, int port, Deadline deadline, int &error) {
  // Every rank asks, so less often than a port is tried.
  constexpr auto pause = std::chrono::milliseconds(250);
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  while ((error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found)) != 0 &&
         core::Clock::now() < deadline)
    std::this_thread::sleep_for(std::min<core::Clock::duration>(pause, core::remaining(deadline)));
  return {error == 0 ? found : nullptr, freeaddrinfo};
}

Result<Socket> Socket::connect(const std::string &host, int port, Deadline deadline) {
  int error = 0;
  const Addresses found = resolve(host, port, deadline, error);
  if (!found)
    return Status::badInput("cannot resolve host '" + host + "': " + gai_strerror(error));
  Socket s;
  do {
    for (const addrinfo *a = found.get(); a && !s.isOpen(); a = a->ai_next)
      s = connectOnce(*a, deadline, error);
    if (!s.isOpen())
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
  } while (!s.isOpen() && !isOutOfFiles(error) && core::Clock::now() < deadline);
  if (!s.isOpen() && isOutOfFiles(error))
    return Status::badInput(std::string("cannot open a connection: ") + std::strerror(error));
  if (!s.isOpen())
    return Status::error(ErrorKind::peerLost, "cannot connect to " + host + ":" +
                                                  std::to_string(port) + ": " +
                                                  std::strerror(error));
  return s;
}

std::pair<Socket, Socket> Socket::pair() {
  int ends[2] = {-1, -1};
  socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
  return {Socket(ends[0]), Socket(ends[1])};
}

Socket Socket::accept() const {
  Socket s(accept4(fd, nullptr, nullptr, SOCK_CLOEXEC));
  int on = 1;
  if (s.isOpen())
    setsockopt(s.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return s;
}

bool Socket::hasInput(Deadline deadline) const { return waitFor(fd, POLLIN, deadline); }

bool Socket::hasRoom(Deadline deadline) const { return waitFor(fd, POLLOUT, deadline); }

bool Socket::limitWaits(double seconds) const {
  timeval limit{};
  limit.tv_sec = static_cast<time_t>(seconds);
  limit.tv_usec = static_cast<suseconds_t>((seconds - static_cast<double>(limit.tv_sec)) * 1e6);
  const int flags = fcntl(fd, F_GETFL);
  return flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0 &&
         setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0 &&
         setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0;
}

int Socket::localPort() const {
  sockaddr_storage a{};
  socklen_t size = sizeof a;
  if (getsockname(fd, reinterpret_cast<sockaddr *>(&a), &size) != 0)
    return 0;
  return ntohs(a.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6 &>(a).sin6_port
                                       : reinterpret_cast<sockaddr_in &>(a).sin_port);
}

/// The numeric address of an end of a connection, as getsockname or getpeername tells it.
static std::string addressOf(int fd, decltype(&getsockname) ask) {
  sockaddr_storage a{};
  socklen_t size = sizeof a;
  char text[NI_MAXHOST];
  if (ask(fd, reinterpret_cast<sockaddr *>(&a), &size) != 0 ||
      getnameinfo(reinterpret_cast<sockaddr *>(&a), size, text, sizeof text, nullptr, 0,
                  NI_NUMERICHOST) != 0)
    return {};
  // A listener for both families reports IPv4 peers by mapped addresses.
  std::string_view mapped = "::ffff:", address = text;
  return std::string(address.starts_with(mapped) ? address.substr(mapped.size()) : address);
}

std::string Socket::localAddress() const { return addressOf(fd, getsockname); }

std::string Socket::peerAddress() const { return addressOf(fd, getpeername); }

bool Socket::sendAll(std::string_view bytes, Deadline deadline) const {
  while (!bytes.empty()) {
    ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0)
      bytes.remove_prefix(n);
    else if (n < 0 && errno == EINTR)
      continue;
    else if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK) || !waitFor(fd, POLLOUT, deadline))
      return false;
  }
  return true;
}

bool Socket::receiveAll(char *bytes, std::size_t size, Deadline deadline) const {
  while (size > 0) {
    ssize_t n = ::recv(fd, bytes, size, MSG_DONTWAIT);
    if (n > 0) {
      bytes += n;
      size -= n;
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK) ||
               !waitFor(fd, POLLIN, deadline)) {
      return false;
    }
  }
  return true;
}

bool isLoopback(const std::string &address) {
  return address == "::1" || address.starts_with("127.");
}

static void appendSize(std::string &out, std::size_t size) {
  for (int shift = 0; shift < 32; shift += 8)
    out.push_back(static_cast<char>(size >> shift));
}

static std::size_t readSize(std::string_view bytes) {
  std::size_t size = 0;
  for (int i = 3; i >= 0; --i)
    size = size << 8 | static_cast<unsigned char>(bytes[i]);
  return size;
}

std::string encodeFrame(const Frame &frame) {
  std::string body;
  for (const std::string &part : frame) {
    appendSize(body, part.size());
    body += part;
  }
  std::string out;
  appendSize(out, body.size());
  return out + body;
}

FrameState decodeFrame(std::string &buffer, Frame &frame, std::size_t maxBytes) {
  frame.clear();
  if (buffer.size() < 4)
    return FrameState::incomplete;
  std::size_t size = readSize(buffer);
  if (size > maxBytes)
    return FrameState::malformed;
  if (buffer.size() < 4 + size)
    return FrameState::incomplete;
  std::string_view rest = std::string_view(buffer).substr(4, size);
  while (!rest.empty()) {
    if (rest.size() < 4 || readSize(rest) > rest.size() - 4)
      return FrameState::malformed;
    std::size_t part = readSize(rest);
    frame.emplace_back(rest.substr(4, part));
    rest.remove_prefix(4 + part);
  }
  buffer.erase(0, 4 + size);
  return FrameState::complete;
}

bool sendFrame(const Socket &socket, const Frame &frame, Deadline deadline) {
  return socket.sendAll(encodeFrame(frame), deadline);
}

bool receiveFrame(const Socket &socket, Frame &frame, Deadline deadline, std::size_t maxBytes) {
  std::string buffer(4, '\0');
  if (!socket.receiveAll(buffer.data(), 4, deadline))
    return false;
  std::size_t size = readSize(buffer);
  if (size > maxBytes)
    return false;
  buffer.resize(4 + size);
  return socket.receiveAll(buffer.data() + 4, size, deadline) &&
         decodeFrame(buffer, frame) == FrameState::complete;
}

} // namespace syncline::transport
