// The transport over Gloo. Gloo's exceptions become Status here.
#include "runtime/transport/GlooTransport.h"

#include "runtime/transport/GlooPair.h"
#include "runtime/transport/Interfaces.h"
#include "runtime/transport/RankConnections.h"
#include "syncline/PlanConstants.h"

#include <atomic>
#include <csignal>
#include <exception>
#include <future>
#include <netdb.h>

#include <gloo/transport/tcp/device.h>

namespace syncline::transport {

using core::Deadline;

namespace {

/// The time limit of links without one.
constexpr double patientSeconds = 1e6;

class GlooTransport : public Transport {
public:
  GlooTransport(const GlooOptions &options, std::string address, Store &store, Watch *watch,
                std::shared_ptr<gloo::transport::Device> device)
      : options(options), address(std::move(address)), store(store), watch(watch),
        device(std::move(device)) {}

  int rank() const override { return options.rank; }
  int size() const override { return options.size; }
  Result<std::vector<std::unique_ptr<Link>>> open(std::span<const LinkEnd> ends) override;

  Traffic traffic() const override { return {sent, received}; }

  Watch *watcher() const { return watch; }
  std::string nameOf(int peer) const { return options.names.of(peer); }
  void count(bool sends, std::size_t bytes) const {
    (sends ? sent : received) += static_cast<std::int64_t>(bytes);
  }
  /// The error for a failed operation with `peer`, naming the rank at fault.
  Status blame(int peer, const std::string &what) const;

private:
  Result<std::string> placeOf(const LinkEnd &end, Deadline deadline);
  Result<Socket> connect(const LinkEnd &end, const std::string &place, RankListener *listener,
                         Deadline deadline) const;
  Result<std::unique_ptr<Link>> open(const LinkEnd &end, const std::string &place,
                                     RankListener *listener, Deadline deadline) const;

  const GlooOptions options;
  const std::string address; ///< numeric address at which other ranks reach this one
  Store &store;
  Watch *watch;
  std::shared_ptr<gloo::transport::Device> device;
  mutable std::atomic<std::int64_t> sent = 0, received = 0;
};

class GlooLink : public Link {
public:
  GlooLink(const GlooTransport &transport, LinkEnd end)
      : transport(transport), end(std::move(end)) {}

  Status start(gloo::transport::Device &device, double timeoutSeconds, Socket connection) {
    Watch::Waiting waiting(transport.watcher(), end.peer, end.sends);
    try {
      pair.emplace(device, timeoutSeconds, std::move(connection));
    } catch (const std::exception &e) {
      // A failure here has its cause in this process.
      return Status::badInput("cannot set up the connection to " + transport.nameOf(end.peer) +
                              ": " + e.what());
    }
    return guarded([&] { sizeSendBuffer(); });
  }

  Status send(const void *data, std::size_t bytes) override {
    Watch::Waiting waiting(transport.watcher(), end.peer, /*sends=*/true);
    return guarded([&] {
      (*pair)->createSendBuffer(slot, const_cast<void *>(data), bytes)->send(0, bytes);
      transport.count(/*sends=*/true, bytes);
    });
  }

  Status receive(void *data, std::size_t bytes) override {
    Watch::Waiting waiting(end.isPatient ? nullptr : transport.watcher(), end.peer,
                           /*sends=*/false);
    std::string malformed;
    const Status s = guarded([&] {
      malformed = pair->whyMalformed(bytes);
      if (!malformed.empty())
        return;
      (*pair)->createRecvBuffer(slot, data, bytes)->waitRecv();
      transport.count(/*sends=*/false, bytes);
    });
    if (malformed.empty())
      return s;
    return Status::badInput(transport.nameOf(end.peer) + " sent " + malformed);
  }

private:
  static constexpr int slot = 0;

  /// Sends one long message only to size the socket's send buffer. Gloo enlarges the buffer to
  /// the length of the longest message so far, and only when that does not fit into twice the
  /// last length. The kernel counts its own headers too, so a message may find room for only
  /// half of it, and the rest of a message a little longer than a loopback packet (64 KiB) then
  /// waits for an acknowledgement that comes 40 ms late. The buffer is not larger than a
  /// server's piece, because what many connections into one host hold beyond its port's queue
  /// is lost (see serverPieceBytes).
  void sizeSendBuffer() {
    std::vector<std::byte> segment(serverPieceBytes);
    if (end.sends)
      (*pair)->createSendBuffer(slot, segment.data(), segment.size())->send(0, segment.size());
    else
      (*pair)->createRecvBuffer(slot, segment.data(), segment.size())->waitRecv();
  }

  template <typename F> Status guarded(F &&f) {
    try {
      f();
      return Status::ok();
    } catch (const std::exception &e) {
      return transport.blame(end.peer, e.what());
    }
  }

  const GlooTransport &transport;
  const LinkEnd end;
  std::optional<GlooPair> pair;
};

Status GlooTransport::blame(int peer, const std::string &what) const {
  if (!watch)
    return Status::error(ErrorKind::peerLost, "lost " + options.names.of(peer) + ": " + what);
  return watch->blame(rank(), peer, what, options.names);
}

/// The store's key under which the receiving end publishes where it listens.
std::string keyOf(const LinkEnd &end, int sender, int receiver) {
  return "link/" + end.name + "/" + std::to_string(sender) + "/" + std::to_string(receiver);
}

/// Reads where the peer listens: "ADDRESS PLACE".
Result<std::string> GlooTransport::placeOf(const LinkEnd &end, Deadline deadline) {
  Watch::Waiting waiting(watch, end.peer, end.sends);
  auto place = store.get(keyOf(end, rank(), end.peer), deadline);
  if (!place)
    return place.status();
  if (!*place)
    return blame(end.peer, "it did not connect in time");
  return **place;
}

/// Connects one end: the sender connects, the receiver listens.
Result<Socket> GlooTransport::connect(const LinkEnd &end, const std::string &place,
                                      RankListener *listener, Deadline deadline) const {
  Watch::Waiting waiting(watch, end.peer, end.sends);
  const ConnectLimit limit{deadline, [this] { return watch && watch->verdict(); }};
  if (!end.sends) {
    std::optional<Socket> socket = listener->take(keyOf(end, end.peer, rank()), limit);
    if (socket)
      return std::move(*socket);
    const std::string trouble = limit.isOver() ? "" : listener->trouble();
    return trouble.empty() ? blame(end.peer, "it did not connect in time")
                           : Status::badInput("cannot take the connection of " +
                                              options.names.of(end.peer) + ": " + trouble);
  }
  const std::size_t space = place.find(' ');
  Result<Socket> socket = connectToRank(place.substr(0, space), place.substr(space + 1),
                                        keyOf(end, rank(), end.peer), limit);
  if (!socket && socket.status().kind() == ErrorKind::peerLost)
    return blame(end.peer, socket.status().message());
  return socket;
}

Result<std::unique_ptr<Link>> GlooTransport::open(const LinkEnd &end, const std::string &place,
                                                  RankListener *listener, Deadline deadline) const {
  Result<Socket> socket = connect(end, place, listener, deadline);
  if (!socket)
    return socket.status();
  auto link = std::make_unique<GlooLink>(*this, end);
  const double limit = end.isPatient ? patientSeconds : options.timeoutSeconds;
  if (Status s = link->start(*device, limit, std::move(*socket)); !s)
    return s;
  return std::unique_ptr<Link>(std::move(link));
}

Result<std::vector<std::unique_ptr<Link>>> GlooTransport::open(std::span<const LinkEnd> ends) {
  const Deadline deadline = core::deadlineIn(options.startSeconds);
  std::unique_ptr<RankListener> listener;
  for (const LinkEnd &end : ends) {
    if (end.sends)
      continue;
    if (!listener) {
      Result<std::unique_ptr<RankListener>> opened = RankListener::open(address);
      if (!opened)
        return opened.status();
      listener = std::move(*opened);
    }
    if (Status s = store.set(keyOf(end, end.peer, rank()), address + " " + listener->place()); !s)
      return s;
  }
  // Places are read one after the other, because the store answers one request at a time.
  std::vector<std::string> places;
  for (const LinkEnd &end : ends) {
    Result<std::string> place = end.sends ? placeOf(end, deadline) : std::string();
    if (!place)
      return place.status();
    places.push_back(std::move(*place));
  }
  // All ranks have begun to open their ends. The links are connected in parallel, because the peer
  // of one link may itself be waiting at another.
  const Deadline connected = core::deadlineIn(options.startSeconds + options.timeoutSeconds);
  std::vector<std::future<Result<std::unique_ptr<Link>>>> opening;
  for (std::size_t i = 0; i < ends.size(); ++i)
    opening.push_back(std::async(std::launch::async, [&, i] {
      return open(ends[i], places[i], listener.get(), connected);
    }));
  std::vector<std::unique_ptr<Link>> links;
  Status first;
  for (auto &o : opening) {
    Result<std::unique_ptr<Link>> link = o.get();
    if (link)
      links.push_back(std::move(*link));
    else if (first)
      first = link.status();
  }
  return first ? Result<std::vector<std::unique_ptr<Link>>>(std::move(links)) : first;
}

/// The numeric address of this host to which other ranks connect.
std::string linkAddress(const GlooOptions &options) {
  gloo::transport::tcp::attr attributes;
  attributes.iface = options.interface;
  attributes.hostname = options.address;
  attributes = gloo::transport::tcp::CreateDeviceAttr(attributes);
  char text[NI_MAXHOST];
  if (int rc = getnameinfo(reinterpret_cast<const sockaddr *>(&attributes.ai_addr),
                           attributes.ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST))
    throw std::runtime_error(gai_strerror(rc));
  return text;
}

} // namespace

Result<std::unique_ptr<Transport>> createGlooTransport(const GlooOptions &options, Store &store,
                                                       Watch *watch) {
  std::signal(SIGPIPE, SIG_IGN);
  if (!options.interface.empty())
    if (Status s =
            checkInterface("GLOO_SOCKET_IFNAME", options.interface, options.reachesOtherHost);
        !s)
      return s;
  try {
    return std::unique_ptr<Transport>(
        new GlooTransport(options, linkAddress(options), store, watch, GlooPair::createDevice()));
  } catch (const std::exception &e) {
    std::string where = options.interface.empty() ? options.address : options.interface;
    return Status::badInput("cannot use the network at '" + where + "': " + e.what());
  }
}

} // namespace syncline::transport
