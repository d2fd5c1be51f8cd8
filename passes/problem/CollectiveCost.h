// CollectiveCost: how long a message of so many bytes occupies the channel. Affine, measured as a
// table, or a scheme's formula.
//
// Units: seconds and bytes. All costs are immutable after construction and safe to share between
// threads. A cost is finite and never negative; it need not be monotone, concave or continuous.
#pragma once

#include "syncline/Scheme.h"
#include "syncline/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace syncline::problem {

/// One straight piece of a cost: for bytes from firstByte up to the next piece's firstByte,
/// T(bytes) = base + slope * (bytes - firstByte).
struct CostSegment {
  std::int64_t firstByte = 0;
  double base = 0;  ///< seconds at firstByte
  double slope = 0; ///< seconds per byte, may be negative
};

class CollectiveCost {
public:
  virtual ~CollectiveCost() = default;

  /// Seconds a message of `bytes` occupies the channel. Precondition: bytes >= 0.
  virtual double seconds(std::int64_t bytes) const = 0;

  /// The same function as straight pieces: the first at byte 0, firstByte strictly ascending, and
  /// agreeing with seconds() to the last bit. Empty when the cost has no such form; solvers then
  /// fall back to slower algorithms that only call seconds().
  virtual std::span<const CostSegment> segments() const { return {}; }
};

/// A scheme by which merged gradients may travel.
struct SchemeOption {
  Scheme scheme = Scheme::ring;
  std::shared_ptr<const CollectiveCost> cost;
  double traffic = 0; ///< bytes a node moves, both directions, per byte of gradient
  /// The same of a message of at most oneTreeBytes (TreeCost.h), where it is another.
  std::optional<double> shortTraffic = std::nullopt;

  /// Bytes a node moves for a message of so many, both directions.
  double bytesMoved(std::int64_t bytes) const;
};

/// The fastest option for so many bytes; the first of equals. Precondition: there is an option, and
/// each has a cost.
std::size_t fastestOption(std::span<const SchemeOption> options, std::int64_t bytes);

/// T = latency + secondsPerByte * bytes.
class AffineCost final : public CollectiveCost {
public:
  /// Precondition: both finite and >= 0.
  AffineCost(double latency, double secondsPerByte) : segment{0, latency, secondsPerByte} {}

  double seconds(std::int64_t bytes) const override {
    return segment.base + segment.slope * static_cast<double>(bytes);
  }
  std::span<const CostSegment> segments() const override { return {&segment, 1}; }

  double latency() const { return segment.base; }
  double secondsPerByte() const { return segment.slope; }

private:
  CostSegment segment;
};

/// One measured message: it had `bytes` and took `seconds`.
struct CostPoint {
  std::int64_t bytes = 0;
  double seconds = 0;
};

/// Straight lines between measured points. Below the first point: its time (a smaller message pays
/// the same latency). Beyond the last: the last line goes on, level where it would fall. A jump is
/// two points one byte apart.
class TableCost final : public CollectiveCost {
public:
  /// badInput when there is no point, bytes are negative or not strictly ascending, or a time is
  /// negative or not finite; the message counts points from 1.
  static Result<TableCost> create(std::span<const CostPoint> points);

  double seconds(std::int64_t bytes) const override;
  std::span<const CostSegment> segments() const override { return pieces; }

private:
  explicit TableCost(std::vector<CostSegment> pieces) : pieces(std::move(pieces)) {}

  std::vector<CostSegment> pieces;
};

/// Rates of a uniform cluster.
struct LinkRates {
  double latency = 0;              ///< alpha: seconds a message waits
  double secondsPerByte = 0;       ///< beta: seconds per byte sent
  double reduceSecondsPerByte = 0; ///< gamma: seconds per byte reduced
};

/// Whether formulaCost knows the scheme: the four all-reduces and reduce-scatter.
bool hasFormula(Scheme scheme);

/// The scheme's time on the channel over `ranks` ranks. One rank costs nothing. Formulas, for any
/// number of ranks: README.md. Precondition: hasFormula(scheme), ranks >= 1, rates finite and >= 0.
std::shared_ptr<const CollectiveCost> formulaCost(Scheme scheme, int ranks, const LinkRates &rates);

/// The same as a line, for all but the tree. Precondition besides: the scheme is not the tree.
AffineCost formulaLine(Scheme scheme, int ranks, const LinkRates &rates);

/// Bytes a node sends and receives per byte of a message of `bytes`, both directions, where it
/// moves the most. Precondition: hasFormula(scheme), ranks >= 1.
double formulaTraffic(Scheme scheme, int ranks, std::int64_t bytes);

/// The least-squares line through the cost at `sizes`. Its latency may be negative. With fewer than
/// two different sizes the line is level at their mean.
struct AffineFit {
  double latency = 0;        ///< a, seconds
  double secondsPerByte = 0; ///< b
};
AffineFit fitAffine(const CollectiveCost &cost, std::span<const std::int64_t> sizes);

} // namespace syncline::problem
