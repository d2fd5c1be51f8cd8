// Connecting a pair over loopback, and replacing its file descriptor.
#include "runtime/transport/GlooPair.h"

#include <arpa/inet.h>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <netinet/in.h>
#include <optional>
#include <stdexcept>
#include <sys/socket.h>
#include <system_error>
#include <tuple>
#include <unistd.h>

#include <gloo/common/error.h>
#include <gloo/transport/tcp/address.h>
#include <gloo/transport/tcp/device.h>

namespace syncline::transport {
namespace {

using gloo::transport::tcp::Address;

constexpr const char *deviceAddress = "127.0.0.1";
/// The pair with the larger address connects to the other. With this address for the client the
/// pair of this process always listens.
constexpr const char *clientAddress = "127.0.0.2";

/// What stands before each message: gloo::transport::tcp::Op, whose header Debian's package lacks.
struct FrameHeader {
  std::size_t nbytes = 0, opcode = 0, slot = 0, offset = 0, length = 0, roffset = 0;
};
constexpr std::size_t sendBuffer = 0; ///< the opcode of messages between buffers

[[noreturn]] void fail(const char *what) {
  throw std::system_error(errno, std::generic_category(), what);
}

using Endpoint = std::tuple<std::uint32_t, std::uint16_t>;

Endpoint endpointOf(const sockaddr_storage &address) {
  const auto &v4 = reinterpret_cast<const sockaddr_in &>(address);
  return {v4.sin_addr.s_addr, v4.sin_port};
}

sockaddr_storage nameOf(const Socket &socket) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  if (getsockname(socket.get(), reinterpret_cast<sockaddr *>(&name), &size) != 0)
    fail("getsockname");
  return name;
}

/// A socket that is connected to the listening pair. Not open where the pair no longer listens.
Socket connectTo(const Address &pair) {
  Socket client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!client.isOpen())
    fail("socket");
  sockaddr_in own{};
  own.sin_family = AF_INET;
  inet_pton(AF_INET, clientAddress, &own.sin_addr);
  if (bind(client.get(), reinterpret_cast<sockaddr *>(&own), sizeof own) != 0)
    fail("bind");
  if (connect(client.get(), reinterpret_cast<const sockaddr *>(&pair.getSockaddr()),
              sizeof(sockaddr_in)) != 0)
    return {};
  // Later versions of Gloo have one port for each device, and a connection begins with the number
  // of its pair.
  const auto number = pair.getSeq();
  if (number != Address::kSequenceNumberUnset)
    client.sendAll({reinterpret_cast<const char *>(&number), sizeof number}, core::deadlineIn(1));
  return client;
}

/// The descriptor of the connection accepted from `client`, or nothing if there is none.
std::optional<int> findAccepted(const Endpoint &client) {
  for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename());
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    if (getpeername(fd, reinterpret_cast<sockaddr *>(&peer), &size) == 0 &&
        peer.ss_family == AF_INET && endpointOf(peer) == client)
      return fd;
  }
  return std::nullopt;
}

/// Connects the pair and returns the descriptor of its socket. Returns nothing if an unknown client
/// connected first, in the microseconds since the pair began to listen.
std::optional<int> connectPair(gloo::transport::Pair &pair) {
  const Socket client = connectTo(Address(pair.address().bytes()));
  if (!client.isOpen())
    return std::nullopt;
  const sockaddr_storage name = nameOf(client);
  pair.connect(Address(name).bytes());
  std::optional<int> accepted = findAccepted(endpointOf(name));
  if (accepted)
    pair.setSync(true, /*busyPoll=*/false);
  return accepted;
}

} // namespace

std::shared_ptr<gloo::transport::Device> GlooPair::createDevice() {
  return gloo::transport::tcp::CreateDevice(gloo::transport::tcp::attr(deviceAddress));
}

GlooPair::GlooPair(gloo::transport::Device &device, double timeoutSeconds, Socket connection) {
  constexpr int attempts = 100;
  std::optional<int> found;
  std::string reason = "other processes connect to every port on which this one listens";
  for (int i = 0; i < attempts && !found; ++i) {
    try {
      context = device.createContext(0, 2);
      // Gloo waits five times as long for the connection, which exists already.
      context->setTimeout(std::chrono::seconds(1));
      pair = context->createPair(1).get();
      found = connectPair(*pair);
    } catch (const gloo::Exception &e) {
      reason = e.what();
    }
  }
  if (!found)
    throw std::runtime_error(reason);
  if (!connection.limitWaits(timeoutSeconds) || dup3(connection.get(), *found, O_CLOEXEC) < 0)
    fail("dup3");
  descriptor = *found;
}

std::string GlooPair::whyMalformed(std::size_t bytes) const {
  FrameHeader header;
  ssize_t got = 0;
  do
    got = recv(descriptor, &header, sizeof header, MSG_PEEK | MSG_WAITALL);
  while (got < 0 && errno == EINTR);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
    throw std::runtime_error("no message in time");
  if (got < static_cast<ssize_t>(sizeof header))
    return {};
  if (header.opcode == sendBuffer && header.length == bytes &&
      header.nbytes == sizeof header + bytes && header.slot == 0 && header.offset == 0 &&
      header.roffset == 0)
    return {};
  return "a frame of " + std::to_string(header.length) + " bytes for place " +
         std::to_string(header.roffset) + " and of kind " + std::to_string(header.opcode) +
         ", expected one message of " + std::to_string(bytes) + " bytes";
}

} // namespace syncline::transport
