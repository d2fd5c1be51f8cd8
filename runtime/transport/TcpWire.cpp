// Lengths and bytes on a socket.
#include "runtime/transport/TcpWire.h"

#include "syncline/PlanConstants.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <sys/socket.h>
#include <sys/uio.h>

namespace syncline::transport {
namespace {

/// A message's length, and its tag in the highest bits.
using Head = std::uint64_t;
constexpr int lengthBits = 56;

Head headOf(std::size_t bytes, const MessageTag *tag) {
  return bytes | Head{tag ? tag->present.load() : std::uint8_t{0}} << lengthBits;
}

/// Whether the peer or the network caused a socket's error, and not this process.
bool isPeersFault(int error) {
  switch (error) {
  case EPIPE:
  case ECONNRESET:
  case ECONNABORTED:
  case ECONNREFUSED:
  case ETIMEDOUT:
  case ENETDOWN:
  case ENETUNREACH:
  case ENETRESET:
  case EHOSTDOWN:
  case EHOSTUNREACH:
    return true;
  default:
    return error == EAGAIN || error == EWOULDBLOCK;
  }
}

Status failure(const char *call, int error) {
  if (error == EAGAIN || error == EWOULDBLOCK)
    return Status::error(ErrorKind::peerLost, "no message moved in time");
  if (isPeersFault(error))
    return Status::error(ErrorKind::peerLost, std::strerror(error));
  return Status::badInput(std::string("cannot ") + call + " a message: " + std::strerror(error));
}

/// Removes the first bytes of a message that were sent.
void skip(msghdr &message, std::size_t sent) {
  while (message.msg_iovlen > 0 && sent >= message.msg_iov->iov_len) {
    sent -= message.msg_iov->iov_len;
    ++message.msg_iov;
    --message.msg_iovlen;
  }
  if (message.msg_iovlen == 0)
    return;
  message.msg_iov->iov_base = static_cast<char *>(message.msg_iov->iov_base) + sent;
  message.msg_iov->iov_len -= sent;
}

} // namespace

Result<std::unique_ptr<Wire>> TcpWire::create(Socket connection, double timeoutSeconds,
                                              std::string peerName,
                                              std::shared_ptr<const MessageTag> tag) {
  std::unique_ptr<TcpWire> wire(
      new TcpWire(std::move(connection), timeoutSeconds, std::move(peerName), std::move(tag)));
  if (!wire->connection.limitWaits(timeoutSeconds) || !wire->holdAtOnce(serverPieceBytes))
    return Status::badInput("cannot set up the connection to " + wire->peerName + ": " +
                            std::strerror(errno));
  return std::unique_ptr<Wire>(std::move(wire));
}

/// Sizes the socket's send buffer for the longest message so far. The kernel's own sizing may leave
/// room for half a message only, and the rest of one a little longer than a loopback packet (64
/// KiB) then waits for an acknowledgement that comes 40 ms late. A larger buffer would harm: what
/// many connections into one host hold beyond its port's queue is lost (see serverPieceBytes).
bool TcpWire::holdAtOnce(std::size_t bytes) {
  if (bytes <= held)
    return true;
  // The kernel doubles the size, for its own headers.
  const int size = static_cast<int>(std::min<std::size_t>(bytes, std::numeric_limits<int>::max()));
  if (setsockopt(connection.get(), SOL_SOCKET, SO_SNDBUF, &size, sizeof size) != 0)
    return false;
  held = 2 * bytes;
  return true;
}

Status TcpWire::send(const void *data, std::size_t bytes) {
  if (!holdAtOnce(bytes))
    return failure("send", errno);
  Head head = headOf(bytes, tag.get());
  iovec parts[] = {{&head, sizeof head}, {const_cast<void *>(data), bytes}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = bytes > 0 ? 2 : 1;
  while (message.msg_iovlen > 0) {
    const ssize_t sent = sendmsg(connection.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0)
      skip(message, static_cast<std::size_t>(sent));
    else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!connection.hasRoom(core::deadlineIn(timeoutSeconds)))
        return failure("send", EAGAIN);
    } else if (errno != EINTR)
      return failure("send", errno);
  }
  return Status::ok();
}

Status TcpWire::receive(void *data, std::size_t bytes) {
  Head head = 0;
  SYNCLINE_TRY(fill(&head, sizeof head));
  SYNCLINE_TRY(checkHead(head, bytes));
  return fill(data, bytes);
}

Status TcpWire::checkHead(Head head, std::size_t bytes) const {
  const Head expected = headOf(bytes, tag.get());
  if (head == expected)
    return Status::ok();
  const auto got = static_cast<std::uint8_t>(head >> lengthBits);
  const auto wanted = static_cast<std::uint8_t>(expected >> lengthBits);
  if (got != wanted)
    return Status::badInput(peerName + " sent a message " + purpose(got) + ", expected one " +
                            purpose(wanted));
  const Head length = head & ((Head{1} << lengthBits) - 1);
  return Status::badInput(peerName + " sent a message of " + std::to_string(length) +
                          " bytes, expected one of " + std::to_string(bytes) + " bytes");
}

std::string TcpWire::purpose(std::uint8_t number) const {
  if (number == 0)
    return "without a tag";
  return tag ? "for " + tag->meaning(number) : "with tag " + std::to_string(number);
}

void TcpWire::interrupt() { shutdown(connection.get(), SHUT_RDWR); }

Status TcpWire::fill(void *data, std::size_t bytes) const {
  auto *at = static_cast<char *>(data);
  while (bytes > 0) {
    const ssize_t got = recv(connection.get(), at, bytes, 0);
    if (got > 0) {
      at += got;
      bytes -= static_cast<std::size_t>(got);
    } else if (got == 0) {
      return Status::error(ErrorKind::peerLost, "it closed the connection");
    } else if (errno != EINTR) {
      return failure("receive", errno);
    }
  }
  return Status::ok();
}

} // namespace syncline::transport
