// Exhaustive search and the textbook recursion.
#include "tests/reference/solver/MergeReference.h"

#include <algorithm>
#include <limits>

namespace syncline::reference {

double finishOf(const MergeProblem &problem, std::span<const std::size_t> ends) {
  double channelFree = 0;
  std::size_t layer = 0;
  for (std::size_t end : ends) {
    std::int64_t bytes = 0;
    for (; layer < end; ++layer)
      bytes += problem.layers[layer].bytes;
    channelFree = std::max(channelFree, problem.layers[end - 1].ready) + problem.seconds(bytes);
  }
  return channelFree;
}

BestGrouping exhaustiveMerge(const MergeProblem &problem) {
  std::size_t n = problem.layers.size();
  std::vector<BestGrouping> all;
  for (std::uint32_t cuts = 0; cuts < (std::uint32_t{1} << (n - 1)); ++cuts) {
    std::vector<std::size_t> ends;
    for (std::size_t layer = 1; layer < n; ++layer)
      if (cuts >> (layer - 1) & 1)
        ends.push_back(layer);
    ends.push_back(n);
    all.push_back({finishOf(problem, ends), ends.size()});
  }
  BestGrouping best = *std::ranges::min_element(all, {}, &BestGrouping::finish);
  for (const BestGrouping &other : all)
    if (other.finish <= best.finish * (1 + 1e-13))
      best.groups = std::min(best.groups, other.groups);
  return best;
}

std::vector<double> plainFinishTimes(const MergeProblem &problem) {
  std::vector<std::int64_t> prefix = problem.prefixBytes();
  std::vector<double> finish{0};
  for (std::size_t j = 1; j < prefix.size(); ++j) {
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < j; ++i)
      best = std::min(best, std::max(finish[i], problem.layers[j - 1].ready) +
                                problem.seconds(prefix[j] - prefix[i]));
    finish.push_back(best);
  }
  return finish;
}

} // namespace syncline::reference
