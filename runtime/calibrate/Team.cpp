// Barriers and small exchanges, by links or by Peers.
#include "runtime/calibrate/Team.h"

#include "runtime/transport/collectives/AllReduce.h"
#include "runtime/transport/collectives/Ring.h"

#include <algorithm>
#include <cstring>

namespace syncline::calibrate {
namespace {

class LinkTeam final : public Team {
public:
  LinkTeam(transport::Transport &transport, std::unique_ptr<transport::AllReduce> barrier,
           std::unique_ptr<transport::Ring> ring)
      : transport(transport), barrier(std::move(barrier)), ring(std::move(ring)) {}

  int rank() const override { return transport.rank(); }
  int size() const override { return transport.size(); }
  Status align() override {
    float token = 1;
    return barrier->run(&token, sizeof token, ElementType::f32);
  }

private:
  Result<std::vector<Values>> exchange(const Values &own) override {
    std::vector<Values> all(static_cast<std::size_t>(size()));
    all[static_cast<std::size_t>(rank())] = own;
    const std::vector<std::size_t> sizes(all.size(), sizeof(Values));
    Status s = ring->allGather(all.data(), sizes);
    return s ? Result<std::vector<Values>>(std::move(all)) : s;
  }

  transport::Transport &transport;
  const std::unique_ptr<transport::AllReduce> barrier;
  const std::unique_ptr<transport::Ring> ring;
};

class MeetingTeam final : public Team {
public:
  explicit MeetingTeam(core::Peers &peers) : peers(peers) {}

  int rank() const override { return peers.rank(); }
  int size() const override { return peers.size(); }
  Status align() override { return peers.exchange(nextKey(), "").status(); }

private:
  Result<std::vector<Values>> exchange(const Values &own) override {
    std::string bytes(sizeof own, '\0');
    std::memcpy(bytes.data(), &own, sizeof own);
    SYNCLINE_TRY_GET(texts, peers.exchange(nextKey(), bytes));
    std::vector<Values> all;
    for (const std::string &text : *texts) {
      if (text.size() != sizeof(Values))
        return Status::error(ErrorKind::internal, "ranks share different things");
      std::memcpy(&all.emplace_back(), text.data(), text.size());
    }
    return all;
  }
  std::string nextKey() { return "calibrate/" + std::to_string(meetings++); }

  core::Peers &peers;
  std::int64_t meetings = 0;
};

} // namespace

Result<std::unique_ptr<Team>> Team::create(transport::Transport &transport,
                                           const std::string &name) {
  // Among all schemes, recursive doubling releases its ranks closest in time.
  SYNCLINE_TRY_GET(barrier, transport::createAllReduce(Scheme::recursiveDoubling, transport,
                                                       name + "/barrier", {}));
  SYNCLINE_TRY_GET(ring, transport::Ring::create(transport, name + "/share"));
  return std::unique_ptr<Team>(
      std::make_unique<LinkTeam>(transport, std::move(*barrier), std::move(*ring)));
}

std::unique_ptr<Team> Team::create(core::Peers &peers) {
  return std::make_unique<MeetingTeam>(peers);
}

Result<std::vector<double>> Team::share(double own) {
  SYNCLINE_TRY_GET(all, exchange({own, core::secondsSince(start)}));
  agreedNow = all->front().now;
  std::vector<double> values;
  for (const Values &each : *all)
    values.push_back(each.own);
  return values;
}

Result<double> Team::slowest(double own) {
  Result<std::vector<double>> all = share(own);
  return all ? Result<double>(*std::max_element(all->begin(), all->end())) : all.status();
}

} // namespace syncline::calibrate
