// Transport over TCP by Gloo: its exceptions end here.
#include "runtime/transport/GlooTransport.h"

#include "runtime/transport/collectives/Blocks.h"

#include <atomic>
#include <csignal>
#include <exception>
#include <future>

#include <gloo/transport/context.h>
#include <gloo/transport/tcp/device.h>

namespace syncline {
namespace {

class GlooTransport : public Transport {
public:
  GlooTransport(const GlooOptions &options, Store &store, Watch *watch,
                std::shared_ptr<gloo::transport::Device> device)
      : options(options), store(store), watch(watch), device(std::move(device)) {}

  int rank() const override { return options.rank; }
  int size() const override { return options.size; }
  Result<std::vector<std::unique_ptr<Link>>> open(std::span<const LinkEnd> ends) override;

  Traffic traffic() const override { return {sent, received}; }

  Watch *watcher() const { return watch; }
  void count(bool sends, std::size_t bytes) const {
    (sends ? sent : received) += static_cast<std::int64_t>(bytes);
  }
  /// Says whose fault it is that an operation with `peer` went wrong.
  Status blame(int peer, const std::string &what) const;

private:
  const GlooOptions options;
  Store &store;
  Watch *watch;
  std::shared_ptr<gloo::transport::Device> device;
  mutable std::atomic<std::int64_t> sent = 0, received = 0;
};

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::min(seconds, 1e6) * 1e3) + 1);
}

/// A context of its own with the one pair.
class GlooLink : public Link {
public:
  GlooLink(const GlooTransport &transport, LinkEnd end,
           std::shared_ptr<gloo::transport::Context> context)
      : transport(transport), end(std::move(end)), context(std::move(context)) {}

  /// Where the peer's pair is to connect to.
  std::string address() {
    std::vector<char> bytes = context->createPair(end.peer)->address().bytes();
    return {bytes.begin(), bytes.end()};
  }

  Status connect(const std::string &peerAddress) {
    Watch::Waiting waiting(transport.watcher(), end.peer, end.sends);
    return guarded([&] {
      pair().connect({peerAddress.begin(), peerAddress.end()});
      pair().setSync(true, /*busyPoll=*/false);
      sizeSendBuffer();
    });
  }

  Status send(const void *data, std::size_t bytes) override {
    Watch::Waiting waiting(transport.watcher(), end.peer, /*sends=*/true);
    return guarded([&] {
      pair().createSendBuffer(slot, const_cast<void *>(data), bytes)->send(0, bytes);
      transport.count(/*sends=*/true, bytes);
    });
  }

  Status receive(void *data, std::size_t bytes) override {
    Watch::Waiting waiting(transport.watcher(), end.peer, /*sends=*/false);
    return guarded([&] {
      pair().createRecvBuffer(slot, data, bytes)->waitRecv();
      transport.count(/*sends=*/false, bytes);
    });
  }

private:
  static constexpr int slot = 0;

  /// Sends one long message for nothing. Gloo enlarges the socket's send buffer to the length of
  /// the longest message so far, and only when that does not fit into twice the last length; since
  /// the kernel counts its own headers too, a message may find room for half of it. One of a little
  /// more than a loopback packet (64 KiB) then waits for an acknowledgement that comes 40 ms late.
  /// No longer than that takes: what many connections into one host hold beyond its port's queue is
  /// lost (see DedicatedServers.cpp).
  void sizeSendBuffer() {
    std::vector<std::byte> segment(96u << 10);
    if (end.sends)
      pair().createSendBuffer(slot, segment.data(), segment.size())->send(0, segment.size());
    else
      pair().createRecvBuffer(slot, segment.data(), segment.size())->waitRecv();
  }

  gloo::transport::Pair &pair() { return *context->getPair(end.peer); }

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
  std::shared_ptr<gloo::transport::Context> context;
};

Status GlooTransport::blame(int peer, const std::string &what) const {
  if (!watch)
    return Status::error(ErrorKind::peerLost, "lost " + options.names.of(peer) + ": " + what);
  return watch->blame(rank(), peer, what, options.names);
}

Result<std::vector<std::unique_ptr<Link>>> GlooTransport::open(std::span<const LinkEnd> ends) {
  Deadline deadline = deadlineIn(options.startSeconds);
  auto key = [](const LinkEnd &end, int from, bool sends) {
    return "link/" + end.name + "/" + std::to_string(from) + (sends ? "/sends" : "/receives");
  };
  std::vector<std::unique_ptr<GlooLink>> links;
  std::vector<std::string> peers;
  for (const LinkEnd &end : ends) {
    auto context = device->createContext(rank(), size());
    context->setTimeout(milliseconds(options.timeoutSeconds));
    links.push_back(std::make_unique<GlooLink>(*this, end, std::move(context)));
    if (Status s = store.set(key(end, rank(), end.sends), links.back()->address()); !s)
      return s;
  }
  for (const LinkEnd &end : ends) {
    Watch::Waiting waiting(watch, end.peer, end.sends);
    auto address = store.get(key(end, end.peer, !end.sends), deadline);
    if (!address)
      return address.status();
    if (!*address)
      return blame(end.peer, "it did not connect in time");
    peers.push_back(**address);
  }
  // At once: a pair that listens waits for its peer, which may wait at another link.
  std::vector<std::future<Status>> connecting;
  for (std::size_t i = 0; i < links.size(); ++i)
    connecting.push_back(
        std::async(std::launch::async, [&, i] { return links[i]->connect(peers[i]); }));
  Status first;
  for (auto &c : connecting)
    if (Status s = c.get(); first && !s)
      first = s;
  if (!first)
    return first;
  return std::vector<std::unique_ptr<Link>>(std::make_move_iterator(links.begin()),
                                            std::make_move_iterator(links.end()));
}

} // namespace

Result<std::unique_ptr<Transport>> createGlooTransport(const GlooOptions &options, Store &store,
                                                       Watch *watch) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    gloo::transport::tcp::attr attributes;
    attributes.iface = options.interface;
    attributes.hostname = options.address;
    return std::unique_ptr<Transport>(
        new GlooTransport(options, store, watch, gloo::transport::tcp::CreateDevice(attributes)));
  } catch (const std::exception &e) {
    std::string where = options.interface.empty() ? options.address : options.interface;
    return Status::badInput("cannot use the network at '" + where + "': " + e.what());
  }
}

} // namespace syncline
