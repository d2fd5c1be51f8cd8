// The graph of a message's parts.
#include "passes/simulate/MessageExpansion.h"

#include <algorithm>

namespace syncline::simulate {

void Unfolding::finish(std::vector<int> exitParts) {
  offsets.assign(parts.size() + 1, 0);
  for (auto [before, after] : edges)
    ++offsets[static_cast<std::size_t>(before) + 1];
  for (std::size_t i = 1; i < offsets.size(); ++i)
    offsets[i] += offsets[i - 1];
  successors.resize(edges.size());
  std::vector<std::size_t> next(offsets.begin(), offsets.end() - 1);
  for (auto [before, after] : edges)
    successors[next[static_cast<std::size_t>(before)]++] = after;
  edges = {};
  for (std::size_t rank = 0; rank < exitParts.size(); ++rank)
    exits.emplace_back(exitParts[rank], static_cast<int>(rank));
  std::ranges::sort(exits);
}

std::span<const std::pair<int, int>> Unfolding::exitsAt(int part) const {
  auto range = std::ranges::equal_range(exits, part, {}, &std::pair<int, int>::first);
  return {range.begin(), range.end()};
}

Unfolding together(int ranks, double seconds) {
  Unfolding result(ranks, true);
  const int all = result.add({.delay = seconds});
  for (int rank = 0; rank < ranks; ++rank)
    result.order(rank, all);
  result.finish(std::vector<int>(static_cast<std::size_t>(ranks), all));
  return result;
}

} // namespace syncline::simulate
