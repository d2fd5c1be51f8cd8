// Exhaustive search and the textbook recursion.
#include "tests/reference/solver/MergeReference.h"

#include "passes/proof/Rejections.h"

#include <algorithm>
#include <cmath>
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

namespace {

/// The start i < j whose message i+1..j ends first, when the first i layers end at finish[i]. The
/// smallest i wins a tie.
struct FirstEnd {
  std::size_t start = 0;
  double end = std::numeric_limits<double>::infinity();
};

FirstEnd firstEnd(const MergeProblem &problem, std::span<const std::int64_t> prefix,
                  std::span<const double> finish, std::size_t j) {
  FirstEnd best;
  for (std::size_t i = 0; i < j; ++i) {
    double end =
        std::max(finish[i], problem.layers[j - 1].ready) + problem.seconds(prefix[j] - prefix[i]);
    if (end < best.end)
      best = {i, end};
  }
  return best;
}

} // namespace

std::vector<double> plainFinishTimes(const MergeProblem &problem) {
  std::vector<std::int64_t> prefix = problem.prefixBytes();
  std::vector<double> finish{0};
  for (std::size_t j = 1; j < prefix.size(); ++j)
    finish.push_back(firstEnd(problem, prefix, finish, j).end);
  return finish;
}

std::optional<proof::MergeRejection> checkEveryPair(const MergeProblem &problem,
                                                    std::span<const double> finish, double part) {
  using Kind = proof::MergeRejectionKind;
  std::size_t entries = problem.layers.size() + 1;
  if (finish.size() != entries)
    return reject(Kind::certificateLength, "expected ", entries, " entries, got ", finish.size());
  if (finish[0] != 0)
    return reject(Kind::certificateOrigin, "expected entry 0 to be 0 s, got ", finish[0], " s");
  for (std::size_t j = 1; j < entries; ++j)
    if (!std::isfinite(finish[j]) || finish[j] < 0)
      return reject(Kind::certificateNumber, "entry ", j, ": expected a finite time >= 0, got ",
                    finish[j]);

  std::vector<std::int64_t> prefix = problem.prefixBytes();
  for (std::size_t j = 1; j < entries; ++j)
    if (FirstEnd best = firstEnd(problem, prefix, finish, j);
        proof::isBefore(best.end, finish[j], part))
      return reject(Kind::certificateTooLate, "entry ", j, ": expected at most ", best.end,
                    " s (a message of layers ", best.start + 1, " to ", j, "), got ", finish[j],
                    " s");
  return std::nullopt;
}

} // namespace syncline::reference
