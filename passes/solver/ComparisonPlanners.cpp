// The grouping rules of WFBP, MG-WFBP, PyTorch DDP and Horovod, written from their descriptions.
#include "passes/solver/ComparisonPlanners.h"

#include <algorithm>
#include <cmath>

namespace syncline::solver {

namespace {

constexpr std::int64_t ddpFirstCap = 1 << 20;

/// The line that MG-WFBP fits. Its profiler measures sizes of 1 to 63 times 8,192 floats.
AffineFit believedLine(const CollectiveCost &cost) {
  if (cost.segments().size() == 1)
    return {cost.segments()[0].base, cost.segments()[0].slope};
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 1; i < 64; ++i)
    sizes.push_back(i * 8192 * 4);
  return fitAffine(cost, sizes);
}

} // namespace

std::vector<std::size_t> layerwiseGroups(const MergeProblem &problem) {
  std::vector<std::size_t> ends(problem.layers.size());
  for (std::size_t i = 0; i < ends.size(); ++i)
    ends[i] = i + 1;
  return ends;
}

std::vector<std::size_t> singleGroup(const MergeProblem &problem) {
  if (problem.layers.empty())
    return {};
  return {problem.layers.size()};
}

std::vector<std::size_t> mgWfbpGroups(const MergeProblem &problem) {
  AffineFit line = believedLine(*problem.options.front().cost);
  std::vector<std::size_t> ends;
  double channelFree = 0; // seconds when the closed groups have been sent
  std::int64_t bytes = 0; // bytes of the open group
  for (std::size_t k = 0; k < problem.layers.size(); ++k) {
    bytes += problem.layers[k].bytes;
    double start = std::max(channelFree, problem.layers[k].ready);
    double time = std::max(0.0, line.latency + line.secondsPerByte * static_cast<double>(bytes));
    bool last = k + 1 == problem.layers.size();
    // A fitted latency may be negative or exceed the whole time; waiting pays in neither case.
    double worthWaiting = std::clamp(line.latency, 0.0, time);
    if (!last && problem.layers[k + 1].ready < start + worthWaiting)
      continue;
    ends.push_back(k + 1);
    channelFree = start + time;
    bytes = 0;
  }
  return ends;
}

std::vector<std::size_t> ddpGroups(const MergeProblem &problem, std::int64_t cap) {
  std::vector<std::size_t> ends;
  std::int64_t bytes = 0, limit = ddpFirstCap;
  for (std::size_t k = 0; k < problem.layers.size(); ++k) {
    bytes += problem.layers[k].bytes;
    if (bytes < limit && k + 1 < problem.layers.size())
      continue;
    ends.push_back(k + 1);
    bytes = 0;
    limit = cap;
  }
  return ends;
}

std::vector<std::size_t> horovodGroups(const MergeProblem &problem, std::int64_t capacity,
                                       double cycle) {
  std::vector<std::size_t> ends;
  std::size_t next = 0;
  for (double wake = 0; next < problem.layers.size();) {
    if (double wait = problem.layers[next].ready - wake; wait > 0)
      wake += std::ceil(wait / cycle) * cycle;
    // Rounding may put the wake-up just before the layer that it waited for.
    double now = std::max(wake, problem.layers[next].ready);
    double sent = now;
    while (next < problem.layers.size() && problem.layers[next].ready <= now) {
      std::int64_t bytes = problem.layers[next++].bytes;
      while (next < problem.layers.size() && problem.layers[next].ready <= now &&
             problem.layers[next].bytes <= capacity - bytes)
        bytes += problem.layers[next++].bytes;
      ends.push_back(next);
      sent += problem.seconds(bytes);
    }
    wake = std::max(now + cycle, sent);
  }
  return ends;
}

} // namespace syncline::solver
