// Closes buckets by a size, and searches those that a list of sizes can state.
#include "passes/solver/DdpGroups.h"

#include "passes/problem/Interference.h"
#include "passes/solver/Coarsen.h"
#include "passes/solver/FinishTimes.h"
#include "passes/solver/Replay.h"
#include "passes/solver/Solver.h"

#include <algorithm>

namespace syncline::solver {

namespace {

constexpr std::int64_t mebibyte = 1 << 20, defaultCap = 25 * mebibyte;

/// Merging where a module is one layer.
struct Modules {
  MergeProblem merging;
  std::vector<std::size_t> ends; ///< of each module, as a number of layers
};

Modules wholeModules(const Problem &problem, const MergeProblem &merging) {
  Modules modules{{.layers = {}, .options = merging.options}, {}};
  std::int64_t bytes = 0;
  for (std::size_t k = 0; k < merging.layers.size(); ++k) {
    bytes += merging.layers[k].bytes;
    if (!problem.layers[k].endsModule)
      continue;
    modules.merging.layers.push_back({bytes, merging.layers[k].ready});
    modules.ends.push_back(k + 1);
    bytes = 0;
  }
  return modules;
}

/// The modules as a problem in which messages may slow computation as in `whole`.
Problem posed(const MergeProblem &merging, const Problem &whole) {
  Problem problem{.layers = {}, .mergeClasses = {{.options = merging.options}}};
  for (const MergeLayer &layer : merging.layers)
    problem.layers.push_back({.bytes = layer.bytes, .ready = layer.ready, .mergeClasses = 1});
  problem.computeFree = whole.computeFree;
  problem.memoryBound = whole.memoryBound;
  return problem;
}

/// Caps of which users may try some: each whole MiB up to 32, further ones 3 % apart.
std::vector<std::int64_t> usualCaps(std::int64_t bytes) {
  std::vector<std::int64_t> caps{mebibyte};
  while (caps.back() < bytes)
    caps.push_back(caps.back() +
                   std::max<std::int64_t>(1, caps.back() / (32 * mebibyte)) * mebibyte);
  return caps;
}

/// The groups of a search that begins with what is known.
std::vector<std::size_t> searchedGroups(const Problem &problem, const MergeProblem &merging,
                                        const std::vector<std::size_t> &fewest) {
  const auto finishing = [&](const std::vector<std::size_t> &ends) {
    return replay(problem, choicesOfGroups(problem, 0, ends));
  };
  Solution known = finishing(fewest);
  for (const std::int64_t cap : usualCaps(merging.prefixBytes().back()))
    if (Solution fixed = finishing(ddpGroups(merging, cap)); fixed.finish < known.finish)
      known = std::move(fixed);
  std::vector<std::size_t> ends;
  for (const Message &message : solve(problem, {}, &known).plan.messages)
    ends.push_back(message.layers.back() + 1);
  return ends;
}

} // namespace

std::vector<std::size_t> ddpGroups(const MergeProblem &merging, std::int64_t cap) {
  std::vector<std::size_t> ends;
  std::int64_t bytes = 0, limit = cap == defaultCap ? mebibyte : cap;
  for (std::size_t k = 0; k < merging.layers.size(); ++k) {
    bytes += merging.layers[k].bytes;
    if (bytes < limit && k + 1 < merging.layers.size())
      continue;
    ends.push_back(k + 1);
    bytes = 0;
    limit = cap;
  }
  return ends;
}

std::vector<std::size_t> listedGroups(const Problem &problem, const MergeProblem &merging) {
  const auto [modules, moduleEnds] = wholeModules(problem, merging);
  std::vector<std::size_t> ends = coarsestGroups(modules, earliestFinishTimes(modules));
  if (const Problem slowed = posed(modules, problem); slowsComputation(slowed))
    ends = searchedGroups(slowed, modules, ends);
  for (std::size_t &end : ends)
    end = moduleEnds[end - 1];
  return ends;
}

} // namespace syncline::solver
