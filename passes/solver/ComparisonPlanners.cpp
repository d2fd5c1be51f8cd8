// ComparisonPlanners: the rules by which other systems group gradients, written from their
// descriptions. Each returns the ends of the groups (see choicesOfGroups) and needs a valid
// problem. README.md names the sources and what is idealised.
#include "passes/solver/DdpGroups.h"
#include "passes/solver/PlannerRows.h"
#include "passes/solver/SchemePlanners.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace syncline::solver {

namespace {

constexpr double horovodCycle = 1e-3; // seconds

/// The line that MG-WFBP fits. Its profiler measures sizes of 1 to 63 times 8,192 floats.
AffineFit believedLine(const CollectiveCost &cost) {
  if (cost.segments().size() == 1)
    return {cost.segments()[0].base, cost.segments()[0].slope};
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 1; i < 64; ++i)
    sizes.push_back(i * 8192 * 4);
  return fitAffine(cost, sizes);
}

/// WFBP (Poseidon): every layer in a message of its own.
std::vector<std::size_t> layerwiseGroups(const MergeProblem &problem) {
  std::vector<std::size_t> ends(problem.layers.size());
  std::iota(ends.begin(), ends.end(), std::size_t{1});
  return ends;
}

/// All layers in one message.
std::vector<std::size_t> singleGroup(const MergeProblem &problem) {
  if (problem.layers.empty())
    return {};
  return {problem.layers.size()};
}

/// MG-WFBP's published rule (INFOCOM 2019) scans the layers once and merges the next layer into the
/// open group when it is ready less than one latency `a` after the group would start.
/// T = a + b * bytes is the first option's line; for a cost that is no line, it is the
/// least-squares fit to what the authors' profiler would measure (32 KiB to 2 MiB).
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

/// Horovod's background loop wakes every `horovodCycle` (not while it sends), takes the layers
/// that are ready and packs them, in order, into messages of at most `capacity` bytes; a larger
/// layer travels alone.
std::vector<std::size_t> horovodGroups(const MergeProblem &problem, std::int64_t capacity) {
  std::vector<std::size_t> ends;
  std::size_t next = 0;
  for (double wake = 0; next < problem.layers.size();) {
    if (double wait = problem.layers[next].ready - wake; wait > 0)
      wake += std::ceil(wait / horovodCycle) * horovodCycle;
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
    wake = std::max(now + horovodCycle, sent);
  }
  return ends;
}

MergeRule merging(MergeClassGroups groups) {
  return [groups](const Problem &problem) { return choicesInFirstMergeClass(problem, groups); };
}

/// A rule that sends messages as PyTorch DDP and Horovod do. On GPUs they use NCCL, which takes its
/// ring, its tree or another algorithm, whose time only a measurement tells. On CPUs they use Gloo,
/// whose all-reduce is a ring by default, and both keep the default.
MergeRule mergingBySystem(MergeClassGroups groups) {
  static constexpr auto nccl =
      schemesWhere<[](Scheme scheme) { return isAllReduce(scheme) && isCarried(scheme, true); }>;
  static constexpr Scheme gloo[] = {Scheme::ring};
  return [groups](const Problem &problem) {
    return choicesInFirstMergeClass(problem, groups,
                                    problem.onGpus ? std::span<const Scheme>(nccl) : gloo);
  };
}

} // namespace

std::vector<PlannerRow> groupingPlanners() {
  return {
      {{"wfbp", "every layer alone (wait-free backpropagation)"}, always(merging(layerwiseGroups))},
      {{"single", "all layers in one message after the backward pass"},
       always(merging(singleGroup))},
      {{"mg-wfbp", "the published merging rule of MG-WFBP"}, always(merging(mgWfbpGroups))},
      {{"ddp:SIZE", "PyTorch DDP's buckets of SIZE; by its default, 25MiB, the first has 1 MiB; by "
                    "ring, on GPUs by ring, tree or library, as Gloo and NCCL have"},
       [](std::int64_t cap) {
         return mergingBySystem(
             [cap](const MergeProblem &mergeClass) { return ddpGroups(mergeClass, cap); });
       }},
      {{"ddp-list",
        "PyTorch DDP's buckets by bucket_cap_mb_list, the first to end; by what ddp has"},
       always(MergeRule([](const Problem &problem) {
         return mergingBySystem([&problem](const MergeProblem &merging) {
           return listedGroups(problem, merging);
         })(problem);
       }))},
      {{"horovod:SIZE", "Horovod's fusion buffer of SIZE (its default: 128MiB), cycle 1 ms; by "
                        "what ddp has"},
       [](std::int64_t capacity) {
         return mergingBySystem([capacity](const MergeProblem &mergeClass) {
           return horovodGroups(mergeClass, capacity);
         });
       }},
  };
}

} // namespace syncline::solver
