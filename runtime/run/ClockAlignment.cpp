// Ping-pong, and records as one message each.
#include "runtime/run/ClockAlignment.h"

namespace syncline {

/// Pongs that are asked for: the quickest of so many met no other traffic.
static constexpr int kRounds = 32;

double clockSeconds(Clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

double offsetAt(const ClockOffset &first, const ClockOffset &second, double otherTime) {
  const double begin = first.at + first.seconds, end = second.at + second.seconds;
  if (end <= begin)
    return first.seconds;
  return first.seconds + (second.seconds - first.seconds) * (otherTime - begin) / (end - begin);
}

Result<RankZeroLinks> RankZeroLinks::open(Transport &transport, int ranks) {
  RankZeroLinks links(transport.rank(), ranks);
  std::vector<LinkEnd> ends;
  for (int other = 1; other < ranks; ++other)
    if (links.rank == 0 || links.rank == other)
      for (const bool sends : {true, false})
        ends.push_back(
            {links.rank == 0 ? other : 0, sends,
             ((links.rank == 0) == sends ? "trace/to" : "trace/from") + std::to_string(other)});
  auto opened = transport.open(ends);
  if (!opened)
    return opened.status();
  for (std::size_t i = 0; i < ends.size(); ++i)
    (ends[i].sends ? links.to : links.from).push_back(std::move((*opened)[i]));
  return links;
}

Status RankZeroLinks::send(std::size_t link, const void *data, std::size_t bytes) {
  moved.sent += static_cast<std::int64_t>(bytes);
  return to[link]->send(data, bytes);
}

Status RankZeroLinks::receive(std::size_t link, void *data, std::size_t bytes) {
  moved.received += static_cast<std::int64_t>(bytes);
  return from[link]->receive(data, bytes);
}

Result<ClockOffset> RankZeroLinks::measure(int other) {
  ClockOffset best;
  for (int round = 0; round < kRounds; ++round) {
    const double asked = clockSeconds(Clock::now());
    double told = 0;
    if (Status s = send(other - 1, &asked, sizeof asked); !s)
      return s;
    if (Status s = receive(other - 1, &told, sizeof told); !s)
      return s;
    const double arrived = clockSeconds(Clock::now());
    const double middle = (asked + arrived) / 2, error = (arrived - asked) / 2;
    if (round == 0 || error < best.error)
      best = {middle, told - middle, error};
  }
  return best;
}

Result<std::vector<ClockOffset>> RankZeroLinks::measureOffsets() {
  std::vector<ClockOffset> offsets;
  if (rank == 0) {
    offsets.push_back({clockSeconds(Clock::now()), 0, 0});
    for (int other = 1; other < ranks; ++other) {
      Result<ClockOffset> offset = measure(other);
      if (!offset)
        return offset.status();
      offsets.push_back(*offset);
    }
    return offsets;
  }
  for (int round = 0; round < kRounds; ++round) {
    double asked = 0;
    if (Status s = receive(0, &asked, sizeof asked); !s)
      return s;
    const double now = clockSeconds(Clock::now());
    if (Status s = send(0, &now, sizeof now); !s)
      return s;
  }
  return offsets;
}

Result<std::vector<std::vector<double>>> RankZeroLinks::collect(const std::vector<double> &own) {
  std::vector<std::vector<double>> all;
  std::uint64_t count = own.size();
  if (rank != 0) {
    Status s = send(0, &count, sizeof count);
    if (s && count > 0)
      s = send(0, own.data(), count * sizeof(double));
    if (!s)
      return s;
    return all;
  }
  all.push_back(own);
  for (int other = 1; other < ranks; ++other) {
    if (Status s = receive(other - 1, &count, sizeof count); !s)
      return s;
    std::vector<double> &values = all.emplace_back(count);
    if (count > 0)
      if (Status s = receive(other - 1, values.data(), count * sizeof(double)); !s)
        return s;
  }
  return all;
}

} // namespace syncline
