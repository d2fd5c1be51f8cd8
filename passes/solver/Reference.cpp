// Exhaustive search and the textbook recursion.
#include "passes/solver/Reference.h"

#include "passes/solver/Replay.h"

#include <algorithm>
#include <limits>

namespace syncline::solver {

Solution exhaustiveMerge(const MergeProblem &problem) {
  std::size_t n = problem.layers.size();
  if (n == 0)
    return {};
  Solution best;
  best.finish = std::numeric_limits<double>::infinity();
  for (std::uint32_t cuts = 0; cuts < (std::uint32_t{1} << (n - 1)); ++cuts) {
    std::vector<std::size_t> ends;
    for (std::size_t layer = 1; layer < n; ++layer)
      if (cuts >> (layer - 1) & 1)
        ends.push_back(layer);
    ends.push_back(n);
    Solution candidate = replay(problem, ends);
    if (candidate.finish < best.finish ||
        (candidate.finish == best.finish && candidate.groups.size() < best.groups.size()))
      best = std::move(candidate);
  }
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

} // namespace syncline::solver
