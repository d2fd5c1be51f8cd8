// The ranks that calibrate together. They begin measurements at the same time and make the
// same decisions.
#pragma once

#include "runtime/core/Deadline.h"
#include "runtime/core/Peers.h"
#include "runtime/transport/Transport.h"

#include <memory>
#include <string>
#include <vector>

namespace syncline::calibrate {

/// All decisions of a calibration depend only on values that are equal on all ranks: the results of
/// share(), and rank 0's clock. All ranks call the methods in the same order, one thread at a time.
/// Errors: peerLost.
class Team {
public:
  /// Creates a team with its own links. All ranks call it together. `transport` outlives the team;
  /// `name` distinguishes the links of several teams.
  static Result<std::unique_ptr<Team>> create(transport::Transport &transport,
                                              const std::string &name);
  /// Creates the only team of a run by means of Peers, for backends that need no links of the host.
  /// `peers` outlives the team.
  static std::unique_ptr<Team> create(core::Peers &peers);
  virtual ~Team() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// A barrier that returns on all ranks within about one message's latency.
  virtual Status align() = 0;

  /// Exchanges one value from each rank; returns them by rank.
  Result<std::vector<double>> share(double own);
  /// Exchanges one value from each rank; returns the largest.
  Result<double> slowest(double own);
  /// Seconds since create() on rank 0's clock, as of the last share().
  double now() const { return agreedNow; }

protected:
  struct Values {
    double own, now;
  };

private:
  /// The values of all ranks, by rank.
  virtual Result<std::vector<Values>> exchange(const Values &own) = 0;

  const core::Clock::time_point start = core::Clock::now();
  double agreedNow = 0;
};

} // namespace syncline::calibrate
