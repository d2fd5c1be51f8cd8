// Comparing all ranks' clocks with rank 0's, and collecting their records at rank 0.
#pragma once

#include "runtime/transport/Group.h"
#include "runtime/transport/RankConnections.h"

#include <map>
#include <vector>

namespace syncline::run {

/// The difference between another rank's clock and rank 0's, measured by ping-pong: rank 0 asks for
/// the time and assumes that the answer was given half-way between question and arrival. The
/// quickest of several round trips counts, and the error is at most half of it.
struct ClockOffset {
  double at = 0;      ///< time of the measurement by rank 0's clock
  double seconds = 0; ///< other clock minus rank 0's
  double error = 0;   ///< bound on the error
};

/// The offset at a time of the other clock, on the line through two measurements. Clocks of
/// different hosts drift by some microseconds per second.
double offsetAt(const ClockOffset &first, const ClockOffset &second, double otherTime);

/// Seconds since the clock's epoch, which all processes of a host share.
double clockSeconds(core::Clock::time_point time);

/// Extra connections between rank 0 and every other worker, or every other rank, independent of the
/// buckets' channels. Each of them calls the same methods in the same order; not thread-safe.
/// Errors: peerLost. Where the run goes on without lost ranks, rank 0 passes over them.
class RankZeroLinks {
public:
  /// Opens the connections between the first `ranks` ranks, which are all workers, or those and the
  /// servers, and at least two. `group` outlives the links. A link without progress for
  /// `timeoutSeconds` counts as lost.
  static Result<RankZeroLinks> open(transport::Group &group, double timeoutSeconds, int ranks);

  /// Returns the offsets of all ranks, by rank, on rank 0, and nothing on other ranks. A lost rank
  /// has offset 0.
  Result<std::vector<ClockOffset>> measureOffsets();
  /// Returns what every rank passed, by rank, on rank 0, and nothing on other ranks. A lost rank
  /// has no values.
  Result<std::vector<std::vector<double>>> collect(const std::vector<double> &own);

private:
  RankZeroLinks(transport::Group &group, double timeout, int ranks)
      : group(&group), timeout(timeout), ranks(ranks) {}
  transport::ConnectLimit limit(int other) const;
  Status meet(transport::RankListener &listener);
  Status join(const std::string &place);
  Result<ClockOffset> measure(int other);
  Status receiveValues(int other, std::vector<double> &values);
  bool isLost(int other) const;
  Status blame(int other) const;
  Status send(int other, const void *data, std::size_t bytes);
  Status receive(int other, void *data, std::size_t bytes);

  transport::Group *group;
  double timeout;
  int ranks;
  std::map<int, transport::Socket> others; ///< by rank
};

} // namespace syncline::run
