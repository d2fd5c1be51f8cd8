// Transport over TCP by Gloo: its exceptions end here.
#include "runtime/transport/GlooTransport.h"

#include <csignal>
#include <exception>
#include <mutex>
#include <set>

#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>

namespace syncline {
namespace {

/// Gloo asks for its peers' addresses here while it connects.
class AddressStore : public gloo::rendezvous::Store {
public:
  AddressStore(syncline::Store &store, Deadline deadline) : store(store), deadline(deadline) {}

  void set(const std::string &key, const std::vector<char> &data) override {
    throwIfError(store.set("gloo/" + key, std::string(data.begin(), data.end())));
  }
  std::vector<char> get(const std::string &key) override {
    Result<std::string> value = store.get("gloo/" + key, deadline);
    throwIfError(value.status());
    return {value->begin(), value->end()};
  }
  void wait(const std::vector<std::string> &keys) override {
    for (const std::string &key : keys)
      get(key);
  }
  void wait(const std::vector<std::string> &keys, const std::chrono::milliseconds &) override {
    wait(keys);
  }

private:
  static void throwIfError(const Status &status) {
    if (!status)
      throw gloo::IoException(status.message());
  }
  syncline::Store &store;
  Deadline deadline;
};

class GlooBuffer;

class GlooTransport : public Transport {
public:
  GlooTransport(std::shared_ptr<gloo::Context> context, Watch *watch)
      : context(std::move(context)), watch(watch) {
    if (watch)
      watch->onVerdict([this] { abort(); });
  }
  ~GlooTransport() override {
    if (watch)
      watch->onVerdict({});
    // Closing the pairs blocks until Gloo's thread has let go of them.
    try {
      context.reset();
    } catch (const std::exception &) {
    }
  }

  int rank() const override { return context->rank; }
  int size() const override { return context->size; }
  std::unique_ptr<TransportBuffer> buffer(void *data, std::size_t bytes) override;

  gloo::Context &gloo() { return *context; }
  Watch *getWatch() { return watch; }
  void add(GlooBuffer *b) {
    std::lock_guard lock(mutex);
    buffers.insert(b);
  }
  void remove(GlooBuffer *b) {
    std::lock_guard lock(mutex);
    buffers.erase(b);
  }
  /// Says whose fault it is that an operation with `peer` went wrong.
  Status blame(int peer, const std::string &what) {
    if (!watch)
      return Status::error(ErrorKind::peerLost, "lost rank " + std::to_string(peer) + ": " + what);
    std::optional<Verdict> v = watch->verdict();
    if (!v)
      v = watch->report(peer, what);
    watch->waitsFor(-1);
    if (v->rank == rank())
      return Status::error(ErrorKind::peerLost, "the other ranks gave this rank up: it was late");
    return Status::error(ErrorKind::peerLost, "lost " + v->describe());
  }

private:
  void abort();
  std::shared_ptr<gloo::Context> context;
  Watch *watch;
  std::mutex mutex;
  std::set<GlooBuffer *> buffers;
};

class GlooBuffer : public TransportBuffer {
public:
  GlooBuffer(GlooTransport &transport, void *data, std::size_t bytes)
      : transport(transport), unbound(transport.gloo().createUnboundBuffer(data, bytes)) {
    transport.add(this);
  }
  ~GlooBuffer() override { transport.remove(this); }

  Status send(int peer, std::uint64_t tag, std::size_t offset, std::size_t bytes) override {
    return guarded(peer, [&] {
      unbound->send(peer, tag, offset, bytes);
      return true;
    });
  }
  Status receive(int peer, std::uint64_t tag, std::size_t offset, std::size_t bytes) override {
    return guarded(peer, [&] {
      unbound->recv(peer, tag, offset, bytes);
      return true;
    });
  }
  Status waitSent(int peer, Deadline deadline) override {
    return waiting(peer, [&] { return unbound->waitSend(limit(deadline)); });
  }
  Status waitReceived(int peer, Deadline deadline) override {
    return waiting(peer, [&] { return unbound->waitRecv(limit(deadline)); });
  }
  void abort() {
    unbound->abortWaitRecv();
    unbound->abortWaitSend();
  }

private:
  /// Gloo takes -1 for "default", 0 for "do not wait".
  static std::chrono::milliseconds limit(Deadline deadline) { return remaining(deadline); }

  template <typename F> Status guarded(int peer, F &&f) {
    std::string what = "interrupted";
    try {
      if (f())
        return Status::ok();
    } catch (const std::exception &e) {
      what = e.what();
    }
    return transport.blame(peer, what);
  }
  template <typename F> Status waiting(int peer, F &&f) {
    if (Watch *w = transport.getWatch())
      w->waitsFor(peer);
    Status s = guarded(peer, f);
    if (Watch *w = transport.getWatch())
      w->waitsFor(-1);
    return s;
  }

  GlooTransport &transport;
  std::unique_ptr<gloo::transport::UnboundBuffer> unbound;
};

std::unique_ptr<TransportBuffer> GlooTransport::buffer(void *data, std::size_t bytes) {
  return std::make_unique<GlooBuffer>(*this, data, bytes);
}

void GlooTransport::abort() {
  std::lock_guard lock(mutex);
  for (GlooBuffer *b : buffers)
    b->abort();
}

} // namespace

Result<std::unique_ptr<Transport>> connectGloo(const GlooOptions &options, Store &store,
                                               Watch *watch, Deadline deadline) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    gloo::transport::tcp::attr attributes;
    attributes.iface = options.interface;
    attributes.hostname = options.address;
    auto device = gloo::transport::tcp::CreateDevice(attributes);
    auto context = std::make_shared<gloo::rendezvous::Context>(options.rank, options.size);
    // Gloo waits five times its timeout for a connection.
    context->setTimeout(remaining(deadline) / 5 + std::chrono::milliseconds(1));
    AddressStore addresses(store, deadline);
    context->connectFullMesh(addresses, device);
    return std::unique_ptr<Transport>(new GlooTransport(std::move(context), watch));
  } catch (const std::exception &e) {
    std::string where = options.interface.empty() ? options.address : options.interface;
    return Status::error(ErrorKind::peerLost,
                         "cannot connect the ranks over '" + where + "': " + e.what());
  }
}

} // namespace syncline
