// Messages between rank 0 and one other rank: what a link does by itself.
#pragma once

#include "runtime/calibrate/Team.h"

#include <functional>
#include <memory>
#include <vector>

namespace syncline::calibrate {

/// Links between rank 0 and each of the others, at most `maxPartners`. All ranks together.
class Pairs {
public:
  static constexpr int maxPartners = 15;
  /// Bytes of one measurement of the rate.
  static constexpr std::int64_t streamBytes = 4 << 20;

  static Result<std::unique_ptr<Pairs>> open(Transport &transport);

  /// Ranks that rank 0 is measured with, ascending.
  std::vector<int> partners() const;
  /// Seconds from one rank to the other: half of a round trip of four bytes.
  Result<double> latency(Team &team, int partner);
  /// Seconds of streamBytes from rank 0 to the other and four bytes back, behind what uses up the
  /// burst that switches let pass after a rest.
  Result<double> stream(Team &team, int partner);

private:
  explicit Pairs(Transport &transport) : transport(transport), landing(pieceBytes) {}
  static constexpr std::size_t pieceBytes = 256 << 10;
  Status roundTrips(int partner);
  Status sendAll(int partner, std::int64_t bytes);
  Result<double> timed(Team &team, int partner, const std::function<Result<double>()> &exchange);

  Transport &transport;
  // By partner; of others than rank 0 only the own ones are there.
  std::vector<std::unique_ptr<Link>> to, from;
  std::vector<std::byte> landing;
};

} // namespace syncline::calibrate
