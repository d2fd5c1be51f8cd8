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

Result<ClockOffset> RankZeroLinks::measure(int other) {
  ClockOffset best;
  for (int round = 0; round < kRounds; ++round) {
    const double asked = clockSeconds(Clock::now());
    double told = 0;
    if (Status s = to[other - 1]->send(&asked, sizeof asked); !s)
      return s;
    if (Status s = from[other - 1]->receive(&told, sizeof told); !s)
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
    if (Status s = from[0]->receive(&asked, sizeof asked); !s)
      return s;
    const double now = clockSeconds(Clock::now());
    if (Status s = to[0]->send(&now, sizeof now); !s)
      return s;
  }
  return offsets;
}

Result<std::vector<std::vector<double>>> RankZeroLinks::collect(const std::vector<double> &own) {
  std::vector<std::vector<double>> all;
  std::uint64_t count = own.size();
  if (rank != 0) {
    Status s = to[0]->send(&count, sizeof count);
    if (s && count > 0)
      s = to[0]->send(own.data(), count * sizeof(double));
    if (!s)
      return s;
    return all;
  }
  all.push_back(own);
  for (int other = 1; other < ranks; ++other) {
    if (Status s = from[other - 1]->receive(&count, sizeof count); !s)
      return s;
    std::vector<double> &values = all.emplace_back(count);
    if (count > 0)
      if (Status s = from[other - 1]->receive(values.data(), count * sizeof(double)); !s)
        return s;
  }
  return all;
}

} // namespace syncline
