// The rules of DeAR, P3, ByteScheduler and TicTac.
#include "passes/solver/OrderRivals.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <numeric>
#include <queue>

namespace syncline::solver {

namespace {

/// The next forward pass, where layer k's gradient arrives at arrived[k].
double periodOf(const OrderProblem &problem, std::span<const double> arrived) {
  double period = problem.compute();
  for (std::size_t k = 0; k < arrived.size(); ++k)
    period = std::max(period, arrived[k] + problem.tail[k]);
  return period;
}

/// Slices of layers in the order of their tails, through a queue on the channel.
RivalOrder byPriority(const OrderProblem &problem, std::int64_t size, std::int64_t credit) {
  struct Slice {
    std::size_t layer;
    std::int64_t bytes;
    double finish;
  };
  const std::vector<Layer> &layers = problem.sync.layers;
  const MergeClass &mergeClass = problem.sync.mergeClasses[0];
  size = std::min(size, mergeClass.largestMessage);
  std::vector<std::int64_t> sent(layers.size(), 0);
  std::vector<double> arrived(layers.size(), 0);
  std::priority_queue<std::pair<double, std::size_t>> needed;
  std::deque<Slice> queued;
  RivalOrder order;
  std::size_t next = 0;
  std::int64_t queuedBytes = 0;
  double now = 0, free = 0;
  for (;;) {
    for (; next < layers.size() && layers[next].ready <= now; ++next)
      if (layers[next].bytes > 0)
        needed.emplace(problem.tail[next], next);
    for (; !queued.empty() && queued.front().finish <= now; queued.pop_front())
      queuedBytes -= queued.front().bytes;
    if (!needed.empty() && (queued.empty() || queuedBytes < credit)) {
      const std::size_t k = needed.top().second;
      const std::int64_t bytes = std::min(size, layers[k].bytes - sent[k]);
      free = std::max(free, now) + mergeClass.seconds(bytes);
      queued.push_back({k, bytes, free});
      queuedBytes += bytes;
      arrived[k] = free;
      ++order.messages;
      if ((sent[k] += bytes) == layers[k].bytes)
        needed.pop();
      continue;
    }
    const double ready = next < layers.size() ? layers[next].ready : free;
    if (next == layers.size() && needed.empty())
      break;
    now = queued.empty()         ? ready
          : next < layers.size() ? std::min(ready, queued.front().finish)
                                 : queued.front().finish;
  }
  order.period = periodOf(problem, arrived);
  return order;
}

} // namespace

RivalOrder dearOrder(const OrderProblem &problem, std::int64_t size) {
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
  return {periodOf(problem, arrived), 2 * buckets.size()};
}

RivalOrder p3Order(const OrderProblem &problem, std::int64_t size) {
  return byPriority(problem, size, 0);
}

RivalOrder byteSchedulerOrder(const OrderProblem &problem, std::int64_t size, std::int64_t credit) {
  return byPriority(problem, size, credit);
}

RivalOrder ticTacOrder(const OrderProblem &problem) {
  // In a chain of layers only the first one that is missing lets computation go on, so TicTac's
  // comparison always prefers the layer that is read first.
  return byPriority(problem, unlimited, 0);
}

} // namespace syncline::solver
