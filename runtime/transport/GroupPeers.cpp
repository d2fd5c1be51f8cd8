// Peers by means of the store and the watch.
#include "runtime/transport/GroupPeers.h"

namespace syncline::transport {
namespace {

class GroupPeers final : public core::Peers {
public:
  GroupPeers(Group &group, double timeout, double start)
      : group(group), timeout(timeout), start(start) {}

  int rank() const override { return group.rank(); }
  int size() const override { return group.workers(); }
  double timeoutSeconds() const override { return timeout; }

  Result<std::vector<std::string>> exchange(const std::string &key,
                                            const std::string &value) override {
    return group.gather(key, value, start, Participants::workers);
  }
  Status verdict() const override { return group.verdict(); }
  std::vector<int> lost() const override {
    std::vector<int> ranks;
    for (const Verdict &v : group.lost())
      ranks.push_back(v.rank);
    return ranks;
  }
  std::shared_ptr<void> waitingFor(int peer) override {
    return std::make_shared<Watch::Waiting>(group.watcher(), peer, /*sends=*/false);
  }
  Status blame(int peer, const std::string &message) override { return group.blame(peer, message); }

private:
  Group &group;
  const double timeout, start;
};

} // namespace

std::unique_ptr<core::Peers> createPeers(Group &group, double timeoutSeconds, double startSeconds) {
  return std::make_unique<GroupPeers>(group, timeoutSeconds, startSeconds);
}

} // namespace syncline::transport
