// Factors or buckets, for one gradient and its piggybacks.
#include "passes/solver/OrderWays.h"

#include <algorithm>
#include <functional>

namespace syncline::solver {

/// A merge class without a capacity that the layer may use.
static std::optional<Choice> bucketChoice(const Problem &problem, std::size_t k) {
  for (std::size_t l = 0; l < problem.mergeClasses.size(); ++l)
    if (problem.allows(k, l) && problem.mergeClasses[l].capacity == unlimited)
      return Choice{Choice::Kind::bucket, static_cast<std::uint8_t>(l)};
  return std::nullopt;
}

static Choice factorsChoice(const Layer &layer) {
  const auto place = &layer.fastestFactors() - layer.factorOptions.data();
  return {Choice::Kind::factors, static_cast<std::uint8_t>(place)};
}

std::optional<std::vector<Choice>> flipped(const Problem &problem, std::span<const Choice> choices,
                                           std::size_t k) {
  std::vector<Choice> next(choices.begin(), choices.end());
  const bool toFactors = choices[k].kind == Choice::Kind::bucket;
  for (std::size_t j = 0; j < next.size(); ++j) {
    if (j != k && problem.layers[j].carrier != k)
      continue;
    if (toFactors && j != k) {
      next[j] = {Choice::Kind::piggyback, 0};
      continue;
    }
    const std::optional<Choice> choice =
        toFactors ? factorsChoice(problem.layers[j]) : bucketChoice(problem, j);
    if (!choice)
      return std::nullopt;
    next[j] = *choice;
  }
  for (std::size_t j = 0; j < next.size(); ++j)
    if (next[j].kind == Choice::Kind::piggyback &&
        next[*problem.layers[j].carrier].kind != Choice::Kind::factors)
      return std::nullopt; // it rides with a piggyback of k
  return next;
}

static bool isFlippable(const Problem &problem, std::size_t k) {
  return !problem.layers[k].factorOptions.empty() && !problem.layers[k].carrier &&
         bucketChoice(problem, k);
}

std::vector<std::size_t> flippable(const Problem &problem) {
  std::vector<std::size_t> layers;
  for (std::size_t k = 0; k < problem.layers.size(); ++k)
    if (isFlippable(problem, k))
      layers.push_back(k);
  std::ranges::stable_sort(layers, std::greater(),
                           [&](std::size_t k) { return problem.layers[k].bytes; });
  return layers;
}

/// Seconds that the layer's factors spare the channel.
static double savedBy(const Problem &problem, std::size_t k) {
  const MergeClass &mergeClass = problem.mergeClasses[bucketChoice(problem, k)->index];
  return mergeClass.seconds(problem.layers[k].bytes) - mergeClass.seconds(1) -
         problem.layers[k].fastestFactors().seconds;
}

std::optional<std::size_t> mostSaving(const Problem &problem) {
  std::optional<std::size_t> best;
  double most = 0;
  for (std::size_t k = 0; k < problem.layers.size(); ++k)
    if (isFlippable(problem, k) && savedBy(problem, k) > most) {
      most = savedBy(problem, k);
      best = k;
    }
  return best;
}

} // namespace syncline::solver
