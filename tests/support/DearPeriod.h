// The period of DeAR's rule on a problem whose schemes need not have halves.
#pragma once

#include "passes/problem/OrderProblem.h"

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

namespace syncline::problem {

/// The next forward pass, where layer k's gradient arrives at arrived[k].
inline double periodFrom(const OrderProblem &problem, std::span<const double> arrived) {
  double period = problem.compute();
  for (std::size_t k = 0; k < arrived.size(); ++k)
    period = std::max(period, arrived[k] + problem.updateOf(k) + problem.tail[k]);
  return period;
}

/// The period under DeAR's rule where the two halves of any all-reduce may travel apart, each for
/// half of its time. Preconditions: those of OrderRivals.h.
inline double dearPeriod(const OrderProblem &problem, std::int64_t size) {
  struct Bucket {
    std::vector<std::size_t> layers;
    std::int64_t bytes = 0;
    double ready = 0, tail = 0;
  };
  const MergeClass &mergeClass = problem.sync.mergeClasses[0];
  std::vector<Bucket> buckets(1);
  for (std::size_t k = 0; k < problem.tail.size(); ++k) {
    const Layer &layer = problem.sync.layers[k];
    if (!buckets.back().layers.empty() &&
        (buckets.back().bytes >= size ||
         buckets.back().bytes + layer.bytes > mergeClass.largestMessage))
      buckets.emplace_back();
    Bucket &bucket = buckets.back();
    bucket.layers.push_back(k);
    bucket.bytes += layer.bytes;
    bucket.ready = layer.ready;
    bucket.tail = std::max(bucket.tail, problem.tail[k]);
  }
  double free = 0;
  for (const Bucket &bucket : buckets)
    free = std::max(free, bucket.ready) + mergeClass.seconds(bucket.bytes) / 2;
  std::ranges::stable_sort(buckets, std::greater(), &Bucket::tail);
  std::vector<double> arrived(problem.tail.size(), 0);
  for (const Bucket &bucket : buckets) {
    free += mergeClass.seconds(bucket.bytes) / 2;
    for (std::size_t k : bucket.layers)
      arrived[k] = free;
  }
  return periodFrom(problem, arrived);
}

} // namespace syncline::problem
