// Fitting links and smoothing tables.
#include "runtime/calibrate/Analysis.h"

#include "runtime/calibrate/Pairs.h"

#include <algorithm>
#include <cmath>

namespace syncline::calibrate {
namespace {

/// Relative difference of the growth from the line, beyond noise, above which a jump is reported.
constexpr double jumpShare = 0.25;
/// Relative uncertainty below which all times have about the same weight.
constexpr double certain = 0.02;

double weightOf(const Summary &summary) { return 1 / (certain + summary.uncertainty()); }

double uncertainty(const SchemeFinding &scheme, std::int64_t bytes) {
  for (const SizeFinding &size : scheme.sizes)
    if (size.bytes == bytes)
      return size.seconds.uncertainty();
  return 0;
}

Table tabulate(const SchemeFinding &scheme) {
  Table table{scheme.scheme, scheme.curve(), {}, {}, {}};
  std::vector<double> weights;
  for (const SizeFinding &size : scheme.sizes)
    weights.push_back(weightOf(size.seconds));
  table.costs = nondecreasing(table.measured, weights);
  std::vector<Observation> points;
  for (const Point &point : table.measured)
    points.push_back({1, static_cast<double>(point.bytes), 0, point.seconds});
  if (std::optional<LinkFit> fit = fitLink(points)) {
    table.line = fit->constants;
    auto line = [&](double bytes) { return table.line.alpha + table.line.beta * bytes; };
    table.jumps = findJumps(table.measured, line, jumpShare);
    std::erase_if(table.jumps, [&](const Jump &jump) {
      return std::abs(std::log(jump.factor)) <= std::log(1 + jumpShare) +
                                                    uncertainty(scheme, jump.before) +
                                                    uncertainty(scheme, jump.after);
    });
  }
  return table;
}

/// A lower limit on the seconds per byte of the slowest pair, from the lower end of its interval.
double minBeta(const std::vector<PairFinding> &pairs) {
  double beta = 0;
  for (const PairFinding &pair : pairs)
    beta = std::max(beta, pair.stream.low / static_cast<double>(Pairs::streamBytes));
  return beta;
}

/// The link's costs, or nothing where the ring's rounds determine no bandwidth.
std::optional<LinkCosts> linkOf(const std::vector<const SchemeFinding *> &schemes, int ranks,
                                const std::vector<PairFinding> &pairs) {
  std::vector<Observation> observations;
  std::vector<std::pair<Scheme, std::int64_t>> origins;
  for (const SchemeFinding *scheme : schemes)
    for (const SizeFinding &size : scheme->sizes) {
      const Summary &summary = size.seconds;
      auto rounds =
          ringRounds(scheme->scheme, ranks, static_cast<double>(size.bytes), summary.median);
      if (!rounds)
        continue;
      rounds->weight = weightOf(summary);
      observations.push_back(*rounds);
      origins.emplace_back(scheme->scheme, size.bytes);
    }
  std::optional<LinkFit> fit = fitRounds(observations, minBeta(pairs));
  if (!fit || !(fit->constants.beta > 0))
    return std::nullopt;
  LinkCosts link{.constants = fit->constants,
                 .isFromRing = true,
                 .isBandwidthOfPairs = fit->constants.beta > (1 + certain) * fit->freeBeta};
  std::vector<double> absolute;
  const std::vector<bool> isLong = longOnes(observations);
  for (std::size_t i = 0; i < observations.size(); ++i) {
    absolute.push_back(std::abs(fit->residuals[i]));
    if (isLong[i])
      link.longResidual = std::max(link.longResidual, absolute.back());
    if (absolute.back() < link.worstResidual)
      continue;
    link.worstResidual = absolute.back();
    std::tie(link.worstScheme, link.worstBytes) = origins[i];
  }
  link.medianResidual = summarize(absolute).median;
  return link;
}

/// The link's costs by the slowest of rank 0's pairs.
LinkCosts linkOfPairs(const std::vector<PairFinding> &pairs) {
  LinkCosts link;
  for (const PairFinding &pair : pairs) {
    link.constants.alpha = std::max(link.constants.alpha, pair.latency.median);
    link.constants.beta =
        std::max(link.constants.beta, pair.stream.median / static_cast<double>(Pairs::streamBytes));
  }
  return link;
}

} // namespace

Analysis analyse(const Findings &findings) {
  Analysis result;
  std::vector<const SchemeFinding *> schemes;
  for (const SchemeFinding &scheme : findings.schemes) {
    schemes.push_back(&scheme);
    if (!scheme.sizes.empty())
      result.tables.push_back(tabulate(scheme));
  }
  result.scatter = messageScatter(findings.schemes);
  result.network = linkOf(schemes, findings.ranks, findings.pairs);
  if (!findings.pairs.empty()) {
    const LinkCosts pairs = linkOfPairs(findings.pairs);
    if (!result.network)
      result.network = pairs;
    if (result.network->constants.alpha == 0) {
      result.network->constants.alpha = pairs.constants.alpha;
      result.network->isLatencyFromPairs = true;
    }
  }
  std::vector<PairFinding> near;
  for (const PairFinding &pair : findings.pairs)
    if (pair.partner < findings.ranksPerNode)
      near.push_back(pair);
  result.inside = linkOf({&findings.inside}, findings.ranksPerNode, near);
  return result;
}

} // namespace syncline::calibrate
