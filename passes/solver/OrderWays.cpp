// Factors or buckets, for one gradient and its piggybacks.
#include "passes/solver/OrderWays.h"

#include <algorithm>
#include <functional>

namespace syncline::solver {

std::vector<Way> waysOf(const Problem &problem, const Solution &solution) {
  std::vector<Way> ways(problem.layers.size());
  for (const Message &message : solution.messages)
    for (std::size_t k : message.layers)
      ways[k] = message.isFactors
                    ? Way{Way::Kind::factors, static_cast<std::uint8_t>(message.option)}
                    : Way{Way::Kind::bucket, static_cast<std::uint8_t>(message.mergeClass)};
  for (std::size_t k : solution.piggybacks)
    ways[k] = {Way::Kind::piggyback, 0};
  return ways;
}

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

} // namespace syncline::solver
