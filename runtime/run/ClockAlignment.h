// The other ranks' clocks in terms of rank 0's, and a way to bring their records to rank 0.
#pragma once

#include "runtime/transport/CommunicationThread.h"
#include "runtime/transport/Transport.h"

#include <memory>
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

/// One rank's connection to rank 0 beside the channels', and rank 0's to all others. Every worker
/// calls the same methods in the same order; not thread-safe. Errors: peerLost.
class RankZeroLinks {
public:
  /// `ranks` are the workers, the first of the transport, at least two.
  static Result<RankZeroLinks> open(Transport &transport, int ranks);

  /// Rank 0: the offset of every rank, its own first; other ranks: nothing.
  Result<std::vector<ClockOffset>> measureOffsets();
  /// Rank 0: what every rank gave, its own first; other ranks: nothing.
  Result<std::vector<std::vector<double>>> collect(const std::vector<double> &own);

  /// What these links have moved so far.
  Traffic traffic() const { return moved; }

private:
  RankZeroLinks(int rank, int ranks) : rank(rank), ranks(ranks) {}
  Result<ClockOffset> measure(int other);
  Status send(std::size_t link, const void *data, std::size_t bytes);
  Status receive(std::size_t link, void *data, std::size_t bytes);

  int rank, ranks;
  std::vector<std::unique_ptr<Link>> to, from; ///< rank 0: by rank - 1; others: one
  Traffic moved;
};

} // namespace syncline
