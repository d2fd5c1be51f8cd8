// The ranks that calibrate together: beginning at the same time, deciding alike.
#pragma once

#include "runtime/core/Deadline.h"
#include "runtime/transport/collectives/AllReduce.h"
#include "runtime/transport/collectives/Ring.h"

#include <memory>
#include <string>
#include <vector>

namespace syncline::calibrate {

/// Every decision of a calibration rests on values that all ranks have alike: what share() returns,
/// and rank 0's clock. All ranks call the methods in the same order; one thread at a time. Errors:
/// peerLost.
class Team {
public:
  /// All ranks together. `transport` outlives the team; `name` tells the links of several teams
  /// apart.
  static Result<std::unique_ptr<Team>> create(Transport &transport, const std::string &name);

  int rank() const { return transport.rank(); }
  int size() const { return transport.size(); }

  /// Returns on all ranks at nearly the same time: within one message's latency.
  Status align();
  /// One value a rank, by rank.
  Result<std::vector<double>> share(double own);
  /// The largest of them.
  Result<double> slowest(double own);
  /// Seconds since create() on rank 0's clock, as of the last share().
  double now() const { return agreedNow; }

private:
  Team(Transport &transport, std::unique_ptr<AllReduce> barrier, std::unique_ptr<Ring> ring)
      : transport(transport), barrier(std::move(barrier)), ring(std::move(ring)) {}

  Transport &transport;
  const std::unique_ptr<AllReduce> barrier;
  const std::unique_ptr<Ring> ring;
  const Clock::time_point start = Clock::now();
  double agreedNow = 0;
};

} // namespace syncline::calibrate
