// A queue of messages with two ends.
#include "runtime/servers/LocalLink.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>

namespace syncline::servers {
namespace {

struct Pipe {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::vector<std::byte>> messages;
  bool isClosed = false;

  void close() {
    std::lock_guard lock(mutex);
    isClosed = true;
    changed.notify_all();
  }
};

Status closed() { return Status::error(ErrorKind::peerLost, "this rank's own shard has ended"); }

class LocalEnd : public transport::Link {
public:
  explicit LocalEnd(std::shared_ptr<Pipe> pipe) : pipe(std::move(pipe)) {}
  ~LocalEnd() override { pipe->close(); }

  Status send(const void *data, std::size_t bytes) override {
    const auto *begin = static_cast<const std::byte *>(data);
    std::lock_guard lock(pipe->mutex);
    if (pipe->isClosed)
      return closed();
    pipe->messages.emplace_back(begin, begin + bytes);
    pipe->changed.notify_all();
    return Status::ok();
  }

  Status receive(void *data, std::size_t bytes) override {
    std::unique_lock lock(pipe->mutex);
    pipe->changed.wait(lock, [&] { return !pipe->messages.empty() || pipe->isClosed; });
    if (pipe->messages.empty())
      return closed();
    if (pipe->messages.front().size() != bytes)
      return Status::error(ErrorKind::internal, "another length is expected than sent");
    std::memcpy(data, pipe->messages.front().data(), bytes);
    pipe->messages.pop_front();
    return Status::ok();
  }

private:
  std::shared_ptr<Pipe> pipe;
};

} // namespace

std::pair<std::unique_ptr<transport::Link>, std::unique_ptr<transport::Link>> localLink() {
  auto pipe = std::make_shared<Pipe>();
  return {std::make_unique<LocalEnd>(pipe), std::make_unique<LocalEnd>(pipe)};
}

} // namespace syncline::servers
