// Plays messages on one channel, one after the other.
#include "passes/solver/Replay.h"

#include <algorithm>

namespace syncline::solver {

Solution replay(const MergeProblem &problem, std::span<const std::size_t> ends) {
  Solution solution;
  solution.groups.reserve(ends.size());
  double channelFree = 0;
  std::size_t layer = 0;
  for (std::size_t groupEnd : ends) {
    Group group;
    group.firstLayer = layer;
    group.layerCount = groupEnd - layer;
    for (; layer < groupEnd; ++layer) {
      group.bytes += problem.layers[layer].bytes;
      group.ready = std::max(group.ready, problem.layers[layer].ready);
    }
    group.option = problem.bestOption(group.bytes);
    group.start = std::max(channelFree, group.ready);
    group.end = group.start + problem.options[group.option].cost->seconds(group.bytes);
    channelFree = group.end;
    solution.groups.push_back(group);
  }
  solution.finish = channelFree;
  return solution;
}

std::vector<std::size_t> groupEnds(const Solution &solution) {
  std::vector<std::size_t> ends;
  ends.reserve(solution.groups.size());
  for (const Group &group : solution.groups)
    ends.push_back(group.firstLayer + group.layerCount);
  return ends;
}

} // namespace syncline::solver
