// Messages between rank 0 and one other rank, to measure a link by itself.
#pragma once

#include "runtime/calibrate/Team.h"

#include <functional>
#include <memory>
#include <vector>

namespace syncline::calibrate {

/// Links between rank 0 and each of at most `maxPartners` other ranks. All ranks use it together.
class Pairs {
public:
  static constexpr int maxPartners = 15;
  /// Bytes sent in one measurement of the rate.
  static constexpr std::int64_t streamBytes = 4 << 20;

  static Result<std::unique_ptr<Pairs>> open(transport::Transport &transport);

  /// The other ranks of the measured pairs, ascending.
  std::vector<int> partners() const;
  /// Seconds from one rank to the other: half of the round trip of four bytes.
  Result<double> latency(Team &team, int partner);
  /// Seconds for streamBytes from rank 0 to the other rank and four bytes back, after messages that
  /// use up the burst that switches let pass after a pause.
  Result<double> stream(Team &team, int partner);

private:
  explicit Pairs(transport::Transport &transport) : transport(transport), landing(pieceBytes) {}
  static constexpr std::size_t pieceBytes = 256 << 10;
  Status roundTrips(int partner);
  Status sendAll(int partner, std::int64_t bytes);
  Result<double> timed(Team &team, int partner, const std::function<Result<double>()> &exchange);

  transport::Transport &transport;
  // Links by partner. Ranks other than 0 have only their own links.
  std::vector<std::unique_ptr<transport::Link>> to, from;
  std::vector<std::byte> landing;
};

} // namespace syncline::calibrate
