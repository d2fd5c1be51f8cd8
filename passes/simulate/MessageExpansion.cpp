// The graph of a message's tasks.
#include "passes/simulate/MessageExpansion.h"

#include <algorithm>

namespace syncline::simulate {

void MessageExpansion::finish(std::vector<int> exitTasks) {
  offsets.assign(tasks.size() + 1, 0);
  for (auto [before, after] : edges)
    ++offsets[static_cast<std::size_t>(before) + 1];
  for (std::size_t i = 1; i < offsets.size(); ++i)
    offsets[i] += offsets[i - 1];
  successors.resize(edges.size());
  std::vector<std::size_t> next(offsets.begin(), offsets.end() - 1);
  for (auto [before, after] : edges)
    successors[next[static_cast<std::size_t>(before)]++] = after;
  edges = {};
  for (std::size_t rank = 0; rank < exitTasks.size(); ++rank)
    exits.emplace_back(exitTasks[rank], static_cast<int>(rank));
  std::ranges::sort(exits);
}

std::span<const std::pair<int, int>> MessageExpansion::exitsAt(int task) const {
  auto range = std::ranges::equal_range(exits, task, {}, &std::pair<int, int>::first);
  return {range.begin(), range.end()};
}

MessageExpansion together(int ranks, double seconds) {
  MessageExpansion result(ranks, true);
  const int all = result.add({.delay = seconds});
  for (int rank = 0; rank < ranks; ++rank)
    result.order(rank, all);
  result.finish(std::vector<int>(static_cast<std::size_t>(ranks), all));
  return result;
}

} // namespace syncline::simulate
