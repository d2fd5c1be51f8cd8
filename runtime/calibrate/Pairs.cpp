// Ping-pong and streams.
#include "runtime/calibrate/Pairs.h"

#include <algorithm>

namespace syncline::calibrate {

static constexpr int trips = 10;
/// A multiple of pieceBytes, as long as the warm-up of collectives.
static constexpr std::int64_t burstBytes = 1 << 20;

Result<std::unique_ptr<Pairs>> Pairs::open(transport::Transport &transport) {
  std::unique_ptr<Pairs> pairs(new Pairs(transport));
  const int rank = transport.rank();
  pairs->to.resize(transport.size());
  pairs->from.resize(transport.size());
  std::vector<int> peers;
  if (rank == 0)
    peers = pairs->partners();
  else if (rank <= maxPartners)
    peers = {0};
  std::vector<transport::LinkEnd> ends;
  for (int peer : peers)
    for (bool sends : {true, false}) {
      const int sender = sends ? rank : peer, receiver = sends ? peer : rank;
      ends.push_back({peer, sends,
                      "calibrate/pair/" + std::to_string(sender) + "-" + std::to_string(receiver)});
    }
  SYNCLINE_TRY_GET(links, transport.open(ends));
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const int partner = rank == 0 ? peers[i] : rank;
    pairs->to[partner] = std::move((*links)[2 * i]);
    pairs->from[partner] = std::move((*links)[2 * i + 1]);
  }
  return pairs;
}

std::vector<int> Pairs::partners() const {
  std::vector<int> all;
  for (int rank = 1; rank < transport.size() && rank <= maxPartners; ++rank)
    all.push_back(rank);
  return all;
}

Status Pairs::roundTrips(int partner) {
  float token = 0;
  for (int trip = 0; trip < trips; ++trip)
    for (bool sends : {transport.rank() == 0, transport.rank() != 0})
      SYNCLINE_TRY(sends ? to[partner]->send(&token, sizeof token)
                         : from[partner]->receive(&token, sizeof token));
  return Status::ok();
}

Status Pairs::sendAll(int partner, std::int64_t bytes) {
  const bool sends = transport.rank() == 0;
  for (std::int64_t at = 0; at < bytes; at += pieceBytes)
    SYNCLINE_TRY(sends ? to[partner]->send(landing.data(), pieceBytes)
                       : from[partner]->receive(landing.data(), pieceBytes));
  float token = 0;
  return sends ? from[partner]->receive(&token, sizeof token)
               : to[partner]->send(&token, sizeof token);
}

/// Runs `exchange` on rank 0 and the partner. Returns rank 0's seconds on all ranks.
Result<double> Pairs::timed(Team &team, int partner,
                            const std::function<Result<double>()> &exchange) {
  SYNCLINE_TRY(team.align());
  double seconds = 0;
  if (transport.rank() == 0 || transport.rank() == partner) {
    SYNCLINE_TRY_GET(own, exchange());
    seconds = *own;
  }
  // Only rank 0's time counts: it sees the last byte, and the partner may have begun to
  // wait earlier.
  Result<std::vector<double>> all = team.share(seconds);
  return all ? Result<double>(all->front()) : all.status();
}

Result<double> Pairs::latency(Team &team, int partner) {
  return timed(team, partner, [&]() -> Result<double> {
    auto start = core::Clock::now();
    Status s = roundTrips(partner);
    return s ? Result<double>(core::secondsSince(start) / (2 * trips)) : s;
  });
}

Result<double> Pairs::stream(Team &team, int partner) {
  return timed(team, partner, [&]() -> Result<double> {
    SYNCLINE_TRY(sendAll(partner, burstBytes));
    auto start = core::Clock::now();
    Status s = sendAll(partner, streamBytes);
    return s ? Result<double>(core::secondsSince(start)) : s;
  });
}

} // namespace syncline::calibrate
