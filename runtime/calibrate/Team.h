// The ranks that calibrate together: beginning at the same time, deciding alike.
#pragma once

#include "runtime/core/Deadline.h"
#include "runtime/core/Peers.h"
#include "runtime/transport/Transport.h"

#include <memory>
#include <string>
#include <vector>

namespace syncline::calibrate {

/// Every decision of a calibration rests on values that all ranks have alike: what share() returns,
/// and rank 0's clock. All ranks call the methods in the same order; one thread at a time. Errors:
/// peerLost.
class Team {
public:
  /// By links of its own; all ranks together. `transport` outlives the team; `name` tells the links
  /// of several teams apart.
  static Result<std::unique_ptr<Team>> create(Transport &transport, const std::string &name);
  /// By way of the meeting point, for backends that need no links of the host's. `peers` outlives
  /// the team, the only one.
  static std::unique_ptr<Team> create(Peers &peers);
  virtual ~Team() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Returns on all ranks at nearly the same time: within one message's latency.
  virtual Status align() = 0;

  /// One value a rank, by rank.
  Result<std::vector<double>> share(double own);
  /// The largest of them.
  Result<double> slowest(double own);
  /// Seconds since create() on rank 0's clock, as of the last share().
  double now() const { return agreedNow; }

protected:
  struct Values {
    double own, now;
  };

private:
  /// By rank.
  virtual Result<std::vector<Values>> exchange(const Values &own) = 0;

  const Clock::time_point start = Clock::now();
  double agreedNow = 0;
};

} // namespace syncline::calibrate
