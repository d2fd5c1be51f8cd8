// Walks back from the last layer with a deadline for each group.
#include "passes/solver/Coarsen.h"

#include "passes/solver/CostLines.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace syncline::solver {

namespace {

/// The number of starts that are tried past the last one that works.
constexpr std::size_t patience = 4096;

/// The relative amount by which the finish may grow: sums of the same times in another order differ
/// by as much and must count as equal.
constexpr double roundingAllowance = 1e-13;

/// A line below the cost, which ends the search for earlier starts: the cost itself where it is one
/// line, else a ray.
Relaxation::Line costFloor(const MergeProblem &problem, std::int64_t most) {
  if (problem.options.size() == 1 && problem.options[0].cost->segments().size() == 1) {
    const CostSegment &line = problem.options[0].cost->segments()[0];
    return {line.base, line.slope};
  }
  return rayUnder(problem.options, most);
}

/// The latest time at which the layers before a group may end, when the group takes `seconds` and
/// must end by `deadline`; rounded so that starting then does meet it.
double latestStart(double deadline, double seconds) {
  double start = deadline - seconds;
  while (start + seconds > deadline)
    start = std::nextafter(start, -std::numeric_limits<double>::infinity());
  return start;
}

/// Finds the earliest start of the group that ends with layer j.
class StartSearch {
public:
  StartSearch(const MergeProblem &problem, std::span<const double> earliestFinish)
      : problem(problem), earliestFinish(earliestFinish), prefix(problem.prefixBytes()),
        floor(costFloor(problem, prefix.back())), minKey(prefix.size()) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < prefix.size(); ++i)
      minKey[i] = least = std::min(least, earliestFinish[i] - floor.secondsPerByte *
                                                                  static_cast<double>(prefix[i]));
  }

  double seconds(std::size_t i, std::size_t j) const {
    return problem.seconds(prefix[j] - prefix[i]);
  }

  /// The earliest start that is found for a group that ends by `deadline`. One exists when
  /// `deadline` is not before earliestFinish[j].
  std::size_t earliest(std::size_t j, double deadline) const {
    double ready = problem.layers[j - 1].ready;
    std::size_t found = j;
    for (std::size_t i = j; i-- > 0;) {
      if (isHopeless(i, j, deadline) || (found < j && found - i > patience))
        break;
      if (std::max(earliestFinish[i], ready) + seconds(i, j) <= deadline)
        found = i;
    }
    // The result is below j even for a wrong earliestFinish, so no caller loops; the checker
    // refuses it.
    return std::min(found, j - 1);
  }

private:
  /// Whether neither i nor any earlier start can meet the deadline. The slack covers rounding.
  bool isHopeless(std::size_t i, std::size_t j, double deadline) const {
    double limit = deadline + 1e-9 * deadline - floor.latency;
    double total = floor.secondsPerByte * static_cast<double>(prefix[j]);
    double message = floor.secondsPerByte * static_cast<double>(prefix[j] - prefix[i]);
    return problem.layers[j - 1].ready + message > limit || minKey[i] + total > limit;
  }

  const MergeProblem &problem;
  std::span<const double> earliestFinish;
  std::vector<std::int64_t> prefix;
  Relaxation::Line floor;
  std::vector<double> minKey; ///< entry i: the least f - slope * prefix of all starts up to i
};

} // namespace

std::vector<std::size_t> coarsestGroups(const MergeProblem &problem,
                                        std::span<const double> earliestFinish) {
  StartSearch search(problem, earliestFinish);
  std::vector<std::size_t> ends;
  double deadline = earliestFinish.back() * (1 + roundingAllowance);
  for (std::size_t j = problem.layers.size(); j > 0;) {
    ends.push_back(j);
    std::size_t start = search.earliest(j, deadline);
    deadline = std::max(earliestFinish[start], latestStart(deadline, search.seconds(start, j)));
    j = start;
  }
  std::ranges::reverse(ends);
  return ends;
}

} // namespace syncline::solver
