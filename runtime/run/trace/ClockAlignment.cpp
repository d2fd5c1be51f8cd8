// Ping-pong between clocks, and one message for each rank's records.
#include "runtime/run/trace/ClockAlignment.h"

#include <algorithm>
#include <cstdint>

namespace syncline::run {

using core::Clock;

/// Number of round trips; the quickest of so many met no other traffic.
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

Result<RankZeroLinks> RankZeroLinks::open(transport::Group &group, double timeoutSeconds,
                                          int ranks) {
  RankZeroLinks links(group, timeoutSeconds, ranks);
  std::unique_ptr<transport::RankListener> listener;
  if (group.rank() == 0) {
    SYNCLINE_TRY_GET(opened, transport::RankListener::open(""));
    listener = std::move(*opened);
  }
  SYNCLINE_TRY_GET(told,
                   group.gather("trace/place", listener ? listener->place() : "", timeoutSeconds,
                                ranks > group.workers() ? transport::Participants::all
                                                        : transport::Participants::workers));
  Status met = listener ? links.meet(*listener) : links.join(told->front());
  return met ? Result<RankZeroLinks>(std::move(links)) : met;
}

static std::string connectionOf(int rank) { return "clock/" + std::to_string(rank); }

/// Whether the run goes on without this rank.
bool RankZeroLinks::isLost(int other) const {
  return std::ranges::any_of(group->lost(),
                             [&](const transport::Verdict &v) { return v.rank == other; });
}

/// The error of a connection that is gone. Another rank may be given up at the same time; then the
/// answer to the report is about that one, and the rank is reported again.
Status RankZeroLinks::blame(int other) const {
  for (;;) {
    const std::size_t known = group->lost().size();
    Status s = group->blame(other, "its connection for comparing clocks is gone");
    if (!group->verdict() || isLost(other) || group->lost().size() == known)
      return s;
  }
}

transport::ConnectLimit RankZeroLinks::limit(int other) const {
  return {core::deadlineIn(timeout), [this, other] { return !group->verdict() || isLost(other); }};
}

Status RankZeroLinks::meet(transport::RankListener &listener) {
  for (int other = 1; other < ranks; ++other) {
    const transport::Watch::Waiting waiting(group->watcher(), other, /*sends=*/false);
    std::optional<transport::Socket> socket = listener.take(connectionOf(other), limit(other));
    if (socket)
      others[other] = std::move(*socket);
    else if (Status s = group->blame(other, "it did not connect to have its clock compared");
             !isLost(other))
      return s;
  }
  return Status::ok();
}

Status RankZeroLinks::join(const std::string &place) {
  Result<transport::Socket> socket =
      transport::connectToRank(group->address(), place, connectionOf(group->rank()), limit(0));
  if (!socket && socket.status().kind() == ErrorKind::peerLost)
    return group->blame(0, socket.status().message());
  if (!socket)
    return socket.status();
  others[0] = std::move(*socket);
  return Status::ok();
}

Status RankZeroLinks::send(int other, const void *data, std::size_t bytes) {
  if (others.at(other).sendAll({static_cast<const char *>(data), bytes}, core::deadlineIn(timeout)))
    return Status::ok();
  return blame(other);
}

/// Receives from another rank. While no bytes come, the watch is asked whether a rank is lost.
Status RankZeroLinks::receive(int other, void *data, std::size_t bytes) {
  const transport::Watch::Waiting waiting(group->watcher(), other, /*sends=*/false);
  core::Deadline deadline = core::deadlineIn(timeout);
  const transport::Socket &socket = others.at(other);
  while (!socket.hasInput(std::min(deadline, core::deadlineIn(0.5)))) {
    SYNCLINE_TRY(group->verdict());
    const std::size_t known = group->lost().size();
    if (Clock::now() < deadline && !isLost(other))
      continue;
    Status s = group->blame(other, "it stood still while clocks were compared");
    if (isLost(other) || group->lost().size() == known)
      return s;
    // The other rank itself waited for one that has now been given up.
    deadline = core::deadlineIn(timeout);
  }
  if (socket.receiveAll(static_cast<char *>(data), bytes, deadline))
    return Status::ok();
  return blame(other);
}

Result<ClockOffset> RankZeroLinks::measure(int other) {
  ClockOffset best;
  for (int round = 0; round < kRounds; ++round) {
    const double asked = clockSeconds(Clock::now());
    double told = 0;
    SYNCLINE_TRY(send(other, &asked, sizeof asked));
    SYNCLINE_TRY(receive(other, &told, sizeof told));
    const double arrived = clockSeconds(Clock::now());
    const double middle = (asked + arrived) / 2, error = (arrived - asked) / 2;
    if (round == 0 || error < best.error)
      best = {middle, told - middle, error};
  }
  return best;
}

Result<std::vector<ClockOffset>> RankZeroLinks::measureOffsets() {
  std::vector<ClockOffset> offsets;
  if (group->rank() == 0) {
    offsets.push_back({clockSeconds(Clock::now()), 0, 0});
    for (int other = 1; other < ranks; ++other) {
      Result<ClockOffset> offset = isLost(other) ? ClockOffset() : measure(other);
      if (!offset && !isLost(other))
        return offset.status();
      offsets.push_back(offset ? *offset : ClockOffset());
    }
    return offsets;
  }
  for (int round = 0; round < kRounds; ++round) {
    double asked = 0;
    SYNCLINE_TRY(receive(0, &asked, sizeof asked));
    const double now = clockSeconds(Clock::now());
    SYNCLINE_TRY(send(0, &now, sizeof now));
  }
  return offsets;
}

Result<std::vector<std::vector<double>>> RankZeroLinks::collect(const std::vector<double> &own) {
  std::vector<std::vector<double>> all;
  std::uint64_t count = own.size();
  if (group->rank() != 0) {
    SYNCLINE_TRY(send(0, &count, sizeof count));
    if (count > 0)
      SYNCLINE_TRY(send(0, own.data(), count * sizeof(double)));
    return all;
  }
  all.push_back(own);
  for (int other = 1; other < ranks; ++other) {
    std::vector<double> &values = all.emplace_back();
    if (isLost(other))
      continue;
    const Status s = receiveValues(other, values);
    if (!s && !isLost(other))
      return s;
    if (!s)
      values.clear();
  }
  return all;
}

Status RankZeroLinks::receiveValues(int other, std::vector<double> &values) {
  std::uint64_t count = 0;
  SYNCLINE_TRY(receive(other, &count, sizeof count));
  values.resize(count);
  return count > 0 ? receive(other, values.data(), count * sizeof(double)) : Status::ok();
}

} // namespace syncline::run
