// Factors or buckets, for one gradient and its piggybacks.
#include "passes/solver/OrderWays.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace syncline::solver {

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// A merge class without a capacity that the layer may use.
static std::optional<Way> bucketWay(const Problem &problem, std::size_t k) {
  for (std::size_t l = 0; l < problem.mergeClasses.size(); ++l)
    if (problem.allows(k, l) && problem.mergeClasses[l].capacity == unlimited)
      return Way{Way::Kind::bucket, static_cast<std::uint8_t>(l)};
  return std::nullopt;
}

static Way factorsWay(const Layer &layer) {
  const auto fastest = std::ranges::min_element(layer.factorOptions, {}, &FactorOption::seconds);
  return {Way::Kind::factors, static_cast<std::uint8_t>(fastest - layer.factorOptions.begin())};
}

std::optional<std::vector<Way>> flipped(const Problem &problem, std::span<const Way> ways,
                                        std::size_t k) {
  std::vector<Way> next(ways.begin(), ways.end());
  const bool toFactors = ways[k].kind == Way::Kind::bucket;
  for (std::size_t j = 0; j < next.size(); ++j) {
    if (j != k && problem.layers[j].carrier != k)
      continue;
    if (toFactors && j != k) {
      next[j] = {Way::Kind::piggyback, 0};
      continue;
    }
    const std::optional<Way> way =
        toFactors ? factorsWay(problem.layers[j]) : bucketWay(problem, j);
    if (!way)
      return std::nullopt;
    next[j] = *way;
  }
  for (std::size_t j = 0; j < next.size(); ++j)
    if (next[j].kind == Way::Kind::piggyback &&
        next[*problem.layers[j].carrier].kind != Way::Kind::factors)
      return std::nullopt; // it rides with a piggyback of k
  return next;
}

std::vector<std::size_t> flippable(const Problem &problem) {
  std::vector<std::size_t> layers;
  for (std::size_t k = 0; k < problem.layers.size(); ++k)
    if (!problem.layers[k].factorOptions.empty() && !problem.layers[k].carrier &&
        bucketWay(problem, k))
      layers.push_back(k);
  std::ranges::stable_sort(layers, std::greater(),
                           [&](std::size_t k) { return problem.layers[k].bytes; });
  return layers;
}

std::vector<std::size_t> bySavings(const Problem &problem, std::span<const std::size_t> layers) {
  std::vector<std::pair<double, std::size_t>> savings;
  for (std::size_t k : layers) {
    const Layer &layer = problem.layers[k];
    const FactorOption &factors = layer.factorOptions[factorsWay(layer).index];
    const MergeClass &mergeClass = problem.mergeClasses[bucketWay(problem, k)->index];
    const double saved = mergeClass.seconds(layer.bytes) - mergeClass.seconds(1) - factors.seconds;
    if (saved > 0)
      savings.emplace_back(factors.reconstruct > 0 ? saved / factors.reconstruct : infinity, k);
  }
  std::ranges::stable_sort(savings, std::greater(), &std::pair<double, std::size_t>::first);
  std::vector<std::size_t> sorted;
  for (const auto &[ratio, k] : savings)
    sorted.push_back(k);
  return sorted;
}

} // namespace syncline::solver
