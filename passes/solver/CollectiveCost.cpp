// Costs of a collective: table look-up, the schemes' formulas, the least-squares line.
#include "passes/solver/CollectiveCost.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace syncline::solver {

namespace {

constexpr Scheme schemes[] = {
    Scheme::ring,          Scheme::recursiveDoubling, Scheme::halvingDoubling, Scheme::tree,
    Scheme::reduceScatter, Scheme::hierarchical,      Scheme::parameterServer, Scheme::factors};

Status pointError(std::size_t index, const std::string &what) {
  return Status::badInput("cost table, point " + std::to_string(index + 1) + ": " + what);
}

} // namespace

std::span<const Scheme> allSchemes() { return schemes; }

std::string_view schemeName(Scheme scheme) {
  switch (scheme) {
  case Scheme::ring:
    return "ring";
  case Scheme::recursiveDoubling:
    return "recursive-doubling";
  case Scheme::halvingDoubling:
    return "halving-doubling";
  case Scheme::tree:
    return "tree";
  case Scheme::reduceScatter:
    return "reduce-scatter";
  case Scheme::hierarchical:
    return "hierarchical";
  case Scheme::parameterServer:
    return "parameter-server";
  case Scheme::factors:
    return "factors";
  }
  return {};
}

std::optional<Scheme> parseScheme(std::string_view name) {
  for (Scheme scheme : schemes)
    if (schemeName(scheme) == name)
      return scheme;
  return std::nullopt;
}

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
  return TableCost(std::move(pieces));
}

double TableCost::seconds(std::int64_t bytes) const {
  auto next = std::upper_bound(
      pieces.begin(), pieces.end(), bytes,
      [](std::int64_t value, const CostSegment &piece) { return value < piece.firstByte; });
  const CostSegment &piece = *std::prev(next);
  return piece.base + piece.slope * static_cast<double>(bytes - piece.firstByte);
}

namespace {

/// The ranks halved again and again, as recursive doubling and halving-doubling do. A group of odd
/// size has one rank, the host, that serves two of the other half: it sends twice.
struct Halvings {
  double levels = 0; ///< ceil(log2 P)
  double sends = 0;  ///< the same, levels with hosts counted twice
  double share = 0;  ///< of the message that the busiest rank receives when levels exchange halves
};

Halvings halvingsOf(std::int64_t ranks) { // groups may be twice as many as any int
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

bool hasFormula(Scheme scheme) { return scheme <= Scheme::reduceScatter; }

AffineCost formulaCost(Scheme scheme, int ranks, const LinkRates &rates) {
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
    return {2 * halvings.levels * alpha, halvings.levels * (2 * beta + gamma)};
  case Scheme::hierarchical:
  case Scheme::parameterServer:
  case Scheme::factors:
    break;
  }
  return {0, 0};
}

double formulaTraffic(Scheme scheme, int ranks) {
  if (ranks <= 1)
    return 0;
  double p = ranks;
  Halvings halvings = halvingsOf(ranks);
  switch (scheme) {
  case Scheme::ring:
  case Scheme::reduceScatter:
    return 4 * (p - 1) / p;
  case Scheme::recursiveDoubling:
    return halvings.sends + halvings.levels;
  case Scheme::halvingDoubling:
    return 4 * halvings.share;
  case Scheme::tree: // half the message over each of two trees; a rank has children in one
    return ranks == 2 ? 2 : 4;
  case Scheme::hierarchical:
  case Scheme::parameterServer:
  case Scheme::factors:
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

} // namespace syncline::solver
