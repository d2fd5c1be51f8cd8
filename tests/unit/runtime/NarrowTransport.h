// A transport without a network, whose links hold one message each: what sends everything before it
// receives anything gets stuck in it.
#pragma once

#include "runtime/transport/Transport.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

namespace syncline::testing {

/// The links of a run by name, shared by its ranks, which are threads.
class NarrowNetwork {
public:
  struct Pipe {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<std::vector<std::byte>> message;
  };
  Pipe &pipe(const std::string &name) {
    std::lock_guard lock(mutex);
    return pipes[name];
  }

private:
  std::mutex mutex;
  std::map<std::string, Pipe> pipes;
};

class NarrowLink : public transport::Link {
public:
  explicit NarrowLink(NarrowNetwork::Pipe &pipe) : pipe(pipe) {}

  Status send(const void *data, std::size_t bytes) override {
    std::unique_lock lock(pipe.mutex);
    if (!pipe.changed.wait_for(lock, limit, [&] { return !pipe.message; }))
      return Status::error(ErrorKind::peerLost, "nobody receives");
    auto *begin = static_cast<const std::byte *>(data);
    pipe.message.emplace(begin, begin + bytes);
    pipe.changed.notify_all();
    return Status::ok();
  }

  Status receive(void *data, std::size_t bytes) override {
    std::unique_lock lock(pipe.mutex);
    if (!pipe.changed.wait_for(lock, limit, [&] { return pipe.message.has_value(); }))
      return Status::error(ErrorKind::peerLost, "nobody sends");
    if (pipe.message->size() != bytes)
      return Status::error(ErrorKind::internal, "another length is expected than sent");
    std::memcpy(data, pipe.message->data(), bytes);
    pipe.message.reset();
    pipe.changed.notify_all();
    return Status::ok();
  }

private:
  static constexpr std::chrono::seconds limit{10};
  NarrowNetwork::Pipe &pipe;
};

class NarrowTransport : public transport::Transport {
public:
  NarrowTransport(NarrowNetwork &network, int rank, int size)
      : network(network), ownRank(rank), ranks(size) {}

  int rank() const override { return ownRank; }
  int size() const override { return ranks; }
  Result<std::vector<std::unique_ptr<transport::Link>>>
  open(std::span<const transport::LinkEnd> ends) override {
    std::vector<std::unique_ptr<transport::Link>> links;
    for (const transport::LinkEnd &end : ends)
      links.push_back(std::make_unique<NarrowLink>(network.pipe(end.name)));
    return links;
  }
  /// Not counted.
  transport::Traffic traffic() const override { return {}; }

private:
  NarrowNetwork &network;
  const int ownRank, ranks;
};

} // namespace syncline::testing
