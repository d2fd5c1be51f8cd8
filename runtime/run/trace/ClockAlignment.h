// The other ranks' clocks in terms of rank 0's, and a way to bring their records to rank 0.
#pragma once

#include "runtime/transport/Group.h"
#include "runtime/transport/RankConnections.h"

#include <map>
#include <vector>

namespace syncline {

/// What another clock shows more than rank 0's, by ping-pong: rank 0 asks what time it is and
/// assumes that the answer was given half-way between question and arrival. The quickest of several
/// answers counts; the truth is at most half its round trip away.
struct ClockOffset {
  double at = 0;      ///< rank 0's clock then
  double seconds = 0; ///< other - rank 0's
  double error = 0;   ///< bound
};

/// The other clock's offset at a time of its own, on the line through two measurements: clocks of
/// different hosts drift by some microseconds a second.
double offsetAt(const ClockOffset &first, const ClockOffset &second, double otherTime);

/// Seconds of a clock since its own beginning; one beginning for all processes of a host.
double clockSeconds(Clock::time_point time);

/// One worker's connection to rank 0, and rank 0's to all others, beside those that carry buckets
/// and whatever carries these. Every worker calls the same methods in the same order; not
/// thread-safe. Errors: peerLost.
class RankZeroLinks {
public:
  /// At least two workers. `group` outlives the links; one that stands still for `timeoutSeconds`
  /// is lost.
  static Result<RankZeroLinks> open(Group &group, double timeoutSeconds);

  /// Rank 0: the offset of every rank, its own first; other ranks: nothing.
  Result<std::vector<ClockOffset>> measureOffsets();
  /// Rank 0: what every rank gave, its own first; other ranks: nothing.
  Result<std::vector<std::vector<double>>> collect(const std::vector<double> &own);

private:
  RankZeroLinks(Group &group, double timeout) : group(&group), timeout(timeout) {}
  ConnectLimit limit() const;
  Status meet(RankListener &listener);
  Status join(const std::string &place);
  Result<ClockOffset> measure(int other);
  Status send(int other, const void *data, std::size_t bytes);
  Status receive(int other, void *data, std::size_t bytes);

  Group *group;
  double timeout;
  std::map<int, Socket> others; ///< by rank
};

} // namespace syncline
