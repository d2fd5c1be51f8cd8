// Bisection on the time of a step, and slowdowns that contain the split.
#include "passes/candidates/SplitBatch.h"

#include "ir/cluster/SpecFields.h"
#include "ir/nn/NN.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <queue>
#include <tuple>

using namespace mlir;

namespace syncline::candidates {
namespace {

/// The samples that a rank computes within `seconds`, from 1 to `most`.
std::int64_t samplesWithin(const ComputeTime &time, double slowdown, double seconds,
                           std::int64_t most) {
  const double samples = std::floor((seconds / slowdown - time.fixed) / time.perSample);
  return static_cast<std::int64_t>(std::clamp(samples, 1.0, static_cast<double>(most)));
}

std::int64_t sumWithin(const ComputeTime &time, llvm::ArrayRef<double> slowdowns, double seconds,
                       std::int64_t most) {
  std::int64_t sum = 0;
  for (const double slowdown : slowdowns)
    sum += samplesWithin(time, slowdown, seconds, most);
  return sum;
}

} // namespace

std::vector<double> slowdownsOf(cluster::SpecAttr spec) {
  std::vector<double> slowdowns(static_cast<std::size_t>(spec.getRanks()), 1);
  for (cluster::OverrideAttr own : spec.getOverrides())
    for (const std::int64_t node : own.getNodes())
      for (std::int64_t i = 0; i < spec.getDevicesPerNode(); ++i)
        if (const std::int64_t rank = node * spec.getDevicesPerNode() + i; rank < spec.getRanks())
          slowdowns[static_cast<std::size_t>(rank)] = own.getSlowdown();
  return slowdowns;
}

std::vector<std::int64_t> splitBatch(const ComputeTime &time, llvm::ArrayRef<double> slowdowns,
                                     std::int64_t samples) {
  constexpr int halvings = 100;
  const double slowest = *std::ranges::max_element(slowdowns);
  double few = 0, enough = slowest * time.of(samples);
  for (int i = 0; i < halvings; ++i) {
    const double middle = (few + enough) / 2;
    (sumWithin(time, slowdowns, middle, samples) < samples ? few : enough) = middle;
  }
  std::vector<std::int64_t> batches;
  for (const double slowdown : slowdowns)
    batches.push_back(samplesWithin(time, slowdown, few, samples));
  using Next = std::tuple<double, double, std::size_t>; // end of one sample more, slowdown, rank
  const auto nextOf = [&](std::size_t rank) {
    return Next(slowdowns[rank] * time.of(batches[rank] + 1), slowdowns[rank], rank);
  };
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  for (std::size_t rank = 0; rank < batches.size(); ++rank)
    next.push(nextOf(rank));
  for (std::int64_t rest =
           samples - std::accumulate(batches.begin(), batches.end(), std::int64_t{0});
       rest > 0; --rest) {
    const std::size_t rank = std::get<2>(next.top());
    next.pop();
    ++batches[rank];
    next.push(nextOf(rank));
  }
  return batches;
}

bool isBestSplit(const ComputeTime &time, llvm::ArrayRef<double> slowdowns,
                 llvm::ArrayRef<std::int64_t> batches) {
  double longest = 0, leastLongest = 0;
  for (std::size_t rank = 0; rank < batches.size(); ++rank) {
    longest = std::max(longest, slowdowns[rank] * time.of(batches[rank]));
    leastLongest = std::max(leastLongest, slowdowns[rank] * time.of(1));
  }
  const double shorter = longest * (1 - 1e-9);
  const std::int64_t sum = std::accumulate(batches.begin(), batches.end(), std::int64_t{0});
  return leastLongest >= shorter || sumWithin(time, slowdowns, shorter, sum) < sum;
}

cluster::SpecAttr asBalanced(cluster::SpecAttr spec, const ComputeTime &time,
                             llvm::ArrayRef<double> slowdowns, llvm::ArrayRef<std::int64_t> batches,
                             std::int64_t batch) {
  std::map<std::int64_t, std::pair<double, cluster::LinkAttr>> nodes;
  for (std::size_t rank = 0; rank < batches.size(); ++rank) {
    double &slowdown = nodes[static_cast<std::int64_t>(rank) / spec.getDevicesPerNode()].first;
    slowdown = std::max(slowdown, slowdowns[rank] * time.of(batches[rank]) / time.of(batch));
  }
  for (cluster::OverrideAttr own : spec.getOverrides())
    for (const std::int64_t node : own.getNodes())
      nodes[node].second = own.getLink();
  MLIRContext *const context = spec.getContext();
  cluster::SpecFields fields(spec);
  fields.overrides.clear();
  for (auto at = nodes.begin(); at != nodes.end();) {
    const auto [slowdown, link] = at->second;
    llvm::SmallVector<std::int64_t> alike;
    for (; at != nodes.end() && at->second == std::pair(slowdown, link); ++at)
      alike.push_back(at->first);
    if (slowdown != 1 || link)
      fields.overrides.push_back(cluster::OverrideAttr::get(context, alike, slowdown, link));
  }
  return fields.get(context);
}

Result<double> computeSeconds(const Candidate &candidate, ModuleOp source,
                              const EnterPhase &enter) {
  OwningOpRef<ModuleOp> module = source.clone();
  SYNCLINE_TRY(runPasses(*module, buildTimedStep, candidate, enter));
  double seconds = 0;
  module->walk([&](Operation *op) {
    if (auto taken = op->getAttrOfType<FloatAttr>(nn::secondsAttr))
      seconds += taken.getValueAsDouble() *
                 (isa<nn::UpdateOp>(op) ? 1 : static_cast<double>(candidate.accumulate));
  });
  return seconds / cluster::slowdown(source->getAttrOfType<cluster::SpecAttr>(cluster::specAttr));
}

} // namespace syncline::candidates
