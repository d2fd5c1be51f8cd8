// Costs of a collective: table look-up, the schemes' formulas, the least-squares line.
#include "passes/problem/CollectiveCost.h"

#include "passes/problem/TreeCost.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace syncline::problem {

namespace {

Status pointError(std::size_t index, const std::string &what) {
  return Status::badInput("cost table, point " + std::to_string(index + 1) + ": " + what);
}

} // namespace

std::size_t fastestOption(std::span<const SchemeOption> options, std::int64_t bytes) {
  std::size_t best = 0;
  if (options.size() == 1)
    return best;
  double bestSeconds = options.front().cost->seconds(bytes);
  for (std::size_t i = 1; i < options.size(); ++i)
    if (double time = options[i].cost->seconds(bytes); time < bestSeconds) {
      best = i;
      bestSeconds = time;
    }
  return best;
}

Result<TableCost> TableCost::create(std::span<const CostPoint> points) {
  if (points.empty())
    return Status::badInput("cost table: expected at least one point, got none");
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].bytes < 0)
      return pointError(i, "expected bytes >= 0, got " + std::to_string(points[i].bytes));
    if (!std::isfinite(points[i].seconds) || points[i].seconds < 0)
      return pointError(i, "expected a finite time >= 0, got " + std::to_string(points[i].seconds));
    if (i > 0 && points[i].bytes <= points[i - 1].bytes)
      return pointError(i, "expected more than " + std::to_string(points[i - 1].bytes) +
                               " bytes, got " + std::to_string(points[i].bytes));
  }

  std::vector<CostSegment> pieces;
  if (points.front().bytes > 0)
    pieces.push_back({0, points.front().seconds, 0});
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    double rise = points[i + 1].seconds - points[i].seconds;
    double run = static_cast<double>(points[i + 1].bytes - points[i].bytes);
    pieces.push_back({points[i].bytes, points[i].seconds, rise / run});
  }
  double lastSlope = points.size() > 1 ? pieces.back().slope : 0;
  pieces.push_back({points.back().bytes, points.back().seconds, std::max(0.0, lastSlope)});
  return TableCost(std::move(pieces), {points.begin(), points.end()});
}

double PiecewiseCost::seconds(std::int64_t bytes) const {
  auto next = std::upper_bound(
      pieces.begin(), pieces.end(), bytes,
      [](std::int64_t value, const CostSegment &piece) { return value < piece.firstByte; });
  const CostSegment &piece = *std::prev(next);
  return piece.base + piece.slope * static_cast<double>(bytes - piece.firstByte);
}

namespace {

/// The rounds of recursive doubling and halving-doubling, which halve the ranks again and again. In
/// a group of odd size one rank, the host, serves two ranks of the other half and so sends twice.
struct Halvings {
  double levels = 0; ///< ceil(log2 P)
  double sends = 0;  ///< messages that the busiest rank sends: a level with a host counts twice
  double share = 0;  ///< part of the message that the busiest rank receives, in halving-doubling
};

Halvings halvingsOf(std::int64_t ranks) { // 64 bits: the number of groups may exceed an int
  Halvings sum;
  for (std::int64_t groups = 1; groups < ranks; groups *= 2) {
    std::int64_t sends = 1, blocks = 0;
    for (std::int64_t size : {ranks / groups, (ranks + groups - 1) / groups}) {
      bool hasHost = size > 1 && size % 2 == 1;
      sends = std::max<std::int64_t>(sends, hasHost ? 2 : 1);
      blocks = std::max(blocks, hasHost ? size - 1 : size / 2);
    }
    sum.levels += 1;
    sum.sends += static_cast<double>(sends);
    sum.share += static_cast<double>(blocks) / static_cast<double>(ranks);
  }
  return sum;
}

} // namespace

namespace {

/// Bytes that a rank moves at one level, both directions. A regular rank has one partner. In an odd
/// group the host serves two ranks; the guest is the second of these.
struct LevelLoad {
  double regular = 0, host = 0, guest = 0;
};

/// The maximum bytes that ranks of a group move at this level and all below: the first rank, the
/// last rank, and the busiest between them. The host is the upper half's first rank, the guest the
/// lower half's last.
struct GroupLoad {
  double first = 0, last = 0, inner = 0; ///< bytes; a lone rank is first and last

  double most() const { return std::max({first, last, inner}); }
};

template <typename LoadOf> GroupLoad loadOf(std::int64_t size, const LoadOf &level) {
  if (size == 1)
    return {};
  const std::int64_t lower = size - size / 2, upper = size / 2;
  const bool isOdd = lower > upper;
  // Halves of different sizes differ by one, so one of them is even and has equal halves itself.
  const GroupLoad low = loadOf(lower, level), high = isOdd ? loadOf(upper, level) : low;
  const LevelLoad own = level(size);
  GroupLoad load;
  load.first = low.first + own.regular;
  load.last = high.last + (isOdd && upper == 1 ? own.host : own.regular);
  if (lower > 2)
    load.inner = low.inner + own.regular;
  if (upper > 2)
    load.inner = std::max(load.inner, high.inner + own.regular);
  if (lower > 1)
    load.inner = std::max(load.inner, low.last + (isOdd ? own.guest : own.regular));
  if (upper > 1)
    load.inner = std::max(load.inner, high.first + (isOdd ? own.host : own.regular));
  return load;
}

/// Traffic of recursive doubling: at each level a rank exchanges whole messages with its partner.
double doublingTraffic(std::int64_t ranks) {
  return loadOf(ranks, [](std::int64_t) { return LevelLoad{2, 3, 1}; }).most();
}

/// Traffic of halving-doubling: at each level a rank receives its own half's blocks and sends the
/// other half's; the gather then moves as many back.
double halvingDoublingTraffic(std::int64_t ranks) {
  const double block = 2 / static_cast<double>(ranks);
  return loadOf(ranks,
                [&](std::int64_t size) {
                  const auto all = static_cast<double>(size), upper = static_cast<double>(size / 2);
                  return LevelLoad{block * all, block * (all + upper), block * upper};
                })
      .most();
}

} // namespace

double SchemeOption::bytesMoved(std::int64_t bytes) const {
  const double perByte = bytes <= oneTreeBytes ? shortTraffic.value_or(traffic) : traffic;
  return perByte * static_cast<double>(bytes);
}

static std::vector<CostSegment> formulaPieces(Scheme scheme, int ranks, const LinkRates &rates) {
  auto copy = [](std::span<const CostSegment> pieces) {
    return std::vector<CostSegment>(pieces.begin(), pieces.end());
  };
  if (scheme == Scheme::tree)
    return copy(treeCost(ranks, rates)->segments());
  return copy(formulaLine(scheme, ranks, rates).segments());
}

FormulaCost::FormulaCost(Scheme scheme, int ranks, const LinkRates &rates)
    : PiecewiseCost(formulaPieces(scheme, ranks, rates)), algorithm(scheme), count(ranks),
      link(rates) {}

std::shared_ptr<const CollectiveCost> formulaCost(Scheme scheme, int ranks,
                                                  const LinkRates &rates) {
  return std::make_shared<FormulaCost>(scheme, ranks, rates);
}

AffineCost formulaLine(Scheme scheme, int ranks, const LinkRates &rates) {
  if (ranks <= 1)
    return {0, 0};
  double p = ranks;
  Halvings halvings = halvingsOf(ranks);
  double alpha = rates.latency, beta = rates.secondsPerByte, gamma = rates.reduceSecondsPerByte;
  switch (scheme) {
  case Scheme::ring:
  case Scheme::reduceScatter: // the ring's two halves, the update between them
    return {2 * (p - 1) * alpha, (p - 1) / p * (2 * beta + gamma)};
  case Scheme::recursiveDoubling:
    return {halvings.sends * alpha, halvings.sends * beta + halvings.levels * gamma};
  case Scheme::halvingDoubling:
    return {(halvings.levels + halvings.sends) * alpha, halvings.share * (2 * beta + gamma)};
  case Scheme::tree:
  case Scheme::hierarchical:
  case Scheme::library:
  case Scheme::parameterServer:
  case Scheme::factors:
  case Scheme::sparse:
    break;
  }
  return {0, 0};
}

double formulaTraffic(Scheme scheme, int ranks, std::int64_t bytes) {
  if (ranks <= 1)
    return 0;
  double p = ranks;
  switch (scheme) {
  case Scheme::ring:
  case Scheme::reduceScatter:
    return 4 * (p - 1) / p;
  case Scheme::recursiveDoubling:
    return doublingTraffic(ranks);
  case Scheme::halvingDoubling:
    return halvingDoublingTraffic(ranks);
  case Scheme::tree:
    return treeTraffic(ranks, bytes);
  case Scheme::hierarchical:
  case Scheme::library:
  case Scheme::parameterServer:
  case Scheme::factors:
  case Scheme::sparse:
    break;
  }
  return 0;
}

AffineFit fitAffine(const CollectiveCost &cost, std::span<const std::int64_t> sizes) {
  if (sizes.empty())
    return {};
  double meanBytes = 0, meanSeconds = 0;
  for (std::int64_t bytes : sizes) {
    meanBytes += static_cast<double>(bytes);
    meanSeconds += cost.seconds(bytes);
  }
  meanBytes /= static_cast<double>(sizes.size());
  meanSeconds /= static_cast<double>(sizes.size());

  double covariance = 0, variance = 0;
  for (std::int64_t bytes : sizes) {
    double offset = static_cast<double>(bytes) - meanBytes;
    covariance += offset * (cost.seconds(bytes) - meanSeconds);
    variance += offset * offset;
  }
  double slope = variance > 0 ? covariance / variance : 0;
  return {meanSeconds - slope * meanBytes, slope};
}

} // namespace syncline::problem
