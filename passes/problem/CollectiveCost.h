// CollectiveCost: seconds that a message of n bytes occupies the channel, as a line, a measured
// table or a scheme's formula.
//
// Units: seconds and bytes. All costs are immutable after construction and safe to share between
// threads. A cost is finite and never negative; it need not be monotone, concave or continuous.
#pragma once

#include "passes/problem/WorkClass.h"
#include "syncline/Scheme.h"
#include "syncline/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace syncline::problem {

/// One straight piece of a cost, from firstByte up to the next piece's
/// firstByte: T(bytes) = base + slope * (bytes - firstByte).
struct CostSegment {
  std::int64_t firstByte = 0;
  double base = 0;  ///< seconds at firstByte
  double slope = 0; ///< seconds per byte, may be negative

  double seconds(std::int64_t bytes) const {
    return base + slope * static_cast<double>(bytes - firstByte);
  }
  friend bool operator==(const CostSegment &, const CostSegment &) = default;
};

class CollectiveCost {
public:
  virtual ~CollectiveCost() = default;

  /// Seconds that a message of `bytes` occupies the channel. Precondition: bytes >= 0.
  virtual double seconds(std::int64_t bytes) const = 0;

  /// The cost as straight pieces, with firstByte strictly ascending from 0 and values equal to
  /// seconds() to the last bit.
  virtual std::span<const CostSegment> segments() const = 0;
};

/// A scheme that merged gradients may use, with its cost.
struct SchemeOption {
  Scheme scheme = Scheme::ring;
  std::shared_ptr<const CollectiveCost> cost;
  double traffic = 0; ///< bytes that a node moves, both directions, per byte of gradient
  /// The traffic of a message of at most oneTreeBytes (TreeCost.h), where it differs.
  std::optional<double> shortTraffic = std::nullopt;
  /// Seconds of computation that a message takes from the device beside it (Interference.h); no
  /// more than `cost`. Null where messages do not slow computation.
  std::shared_ptr<const CollectiveCost> lost = nullptr;
  /// What it takes where all operations beside it are of one class. Null where messages do not
  /// slow them, or where all classes lose alike.
  ByClass<std::shared_ptr<const CollectiveCost>> lostBy = {};

  double lostSeconds(std::int64_t bytes) const { return lost ? lost->seconds(bytes) : 0; }
  ByClass<double> lostSecondsBy(std::int64_t bytes) const {
    ByClass<double> seconds;
    for (std::size_t work = 0; work < workClasses; ++work)
      seconds.of[work] = lostBy.of[work] ? lostBy.of[work]->seconds(bytes) : 0;
    return seconds;
  }
  /// The message's seconds on a clock that stands still for what messages take.
  double secondsOnClock(std::int64_t bytes) const {
    return cost->seconds(bytes) - lostSeconds(bytes);
  }
  /// Bytes that a node moves for a message of `bytes`, both directions.
  double bytesMoved(std::int64_t bytes) const;
};

/// The index of the fastest option for `bytes`; the first wins a tie. Precondition: there is an
/// option, and each has a cost.
std::size_t fastestOption(std::span<const SchemeOption> options, std::int64_t bytes);

/// A straight line: T = latency + secondsPerByte * bytes.
class AffineCost final : public CollectiveCost {
public:
  /// Precondition: both arguments are finite and >= 0.
  AffineCost(double latency, double secondsPerByte) : segment{0, latency, secondsPerByte} {}

  double seconds(std::int64_t bytes) const override { return segment.seconds(bytes); }
  std::span<const CostSegment> segments() const override { return {&segment, 1}; }

  double latency() const { return segment.base; }
  double secondsPerByte() const { return segment.slope; }

private:
  CostSegment segment;
};

/// One measured message: `bytes` took `seconds`.
struct CostPoint {
  std::int64_t bytes = 0;
  double seconds = 0;
};

/// A cost that is given by its straight pieces.
class PiecewiseCost : public CollectiveCost {
public:
  double seconds(std::int64_t bytes) const override;
  std::span<const CostSegment> segments() const override { return pieces; }

protected:
  /// Precondition: the first piece begins at 0, and the others ascend.
  explicit PiecewiseCost(std::vector<CostSegment> pieces) : pieces(std::move(pieces)) {}

private:
  std::vector<CostSegment> pieces;
};

/// A cost that interpolates linearly between measured points. Below the first point it has that
/// point's time, since a smaller message pays the same latency. Beyond the last point the last line
/// continues, level where it would fall. A jump is written as two points one byte apart.
class TableCost final : public PiecewiseCost {
public:
  /// Returns badInput when there is no point, bytes are negative or not strictly ascending, or a
  /// time is negative or not finite. The message counts points from 1.
  static Result<TableCost> create(std::span<const CostPoint> points);

  std::span<const CostPoint> points() const { return measured; }

private:
  TableCost(std::vector<CostSegment> pieces, std::vector<CostPoint> points)
      : PiecewiseCost(std::move(pieces)), measured(std::move(points)) {}

  std::vector<CostPoint> measured;
};

/// Rates of a uniform cluster.
struct LinkRates {
  double latency = 0;              ///< alpha: seconds that each message waits
  double secondsPerByte = 0;       ///< beta: seconds per byte sent
  double reduceSecondsPerByte = 0; ///< gamma: seconds per byte reduced
};

/// The scheme's time on the channel over `ranks` ranks; one rank costs nothing. README.md,
/// "Schemes", has the formulas for any number of ranks, FormulaCost.cpp a row for each scheme.
class FormulaCost final : public PiecewiseCost {
public:
  /// Precondition: hasFormula(scheme), ranks >= 1, rates finite and >= 0.
  FormulaCost(Scheme scheme, int ranks, const LinkRates &rates);

  Scheme scheme() const { return algorithm; }
  int ranks() const { return count; }
  const LinkRates &rates() const { return link; }

private:
  Scheme algorithm;
  int count;
  LinkRates link;
};

/// A FormulaCost that can be shared. Precondition: as FormulaCost.
std::shared_ptr<const CollectiveCost> formulaCost(Scheme scheme, int ranks, const LinkRates &rates);

/// The cost of formulaCost as one line. Preconditions: as formulaCost, and the scheme is not
/// the tree.
AffineCost formulaLine(Scheme scheme, int ranks, const LinkRates &rates);

/// Bytes that the busiest node sends and receives, both directions, per byte of a message of
/// `bytes`. Precondition: hasFormula(scheme), ranks >= 1.
double formulaTraffic(Scheme scheme, int ranks, std::int64_t bytes);

/// How many ranks of a node send over its cards at the same time, where each node has `devices`
/// consecutive ranks. Preconditions: hasFormula(scheme), ranks and devices >= 1.
double formulaSharers(Scheme scheme, int ranks, int devices);

/// A line fitted to a cost by least squares.
struct AffineFit {
  double latency = 0;        ///< a, seconds; may be negative
  double secondsPerByte = 0; ///< b, seconds per byte
};
AffineFit fitAffine(const CollectiveCost &cost, std::span<const std::int64_t> sizes);

} // namespace syncline::problem
