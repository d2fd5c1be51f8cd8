// The rules of DeAR, P3, ByteScheduler and TicTac.
#include "passes/solver/OrderRivals.h"

#include "passes/solver/ListSchedule.h"
#include "passes/solver/PlannerRows.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <queue>

namespace syncline::solver {

namespace {

/// Slices of layers in the order of their tails, through a queue on the channel.
class PriorityQueue {
public:
  PriorityQueue(const OrderProblem &problem, std::int64_t size, std::int64_t credit)
      : problem(problem), layers(problem.sync.layers), mergeClass(problem.sync.mergeClasses[0]),
        size(std::max(problem.grain,
                      std::min(size, mergeClass.largestMessage) / problem.grain * problem.grain)),
        credit(credit), sent(layers.size(), 0) {
    if (!problem.cutsGradients ||
        (size >= mergeClass.largestMessage && mergeClass.largestMessage == unlimited))
      this->size = unlimited; // whole layers
    order.choices.assign(layers.size(), Choice{});
  }

  OrderSolution run() {
    const ClassLayout layout(problem.sync, order.choices, 0);
    std::vector<std::int64_t> begin(layers.size());
    for (std::size_t i = 0; i < layout.layers.size(); ++i)
      begin[layout.layers[i]] = layout.begin[i];
    for (double now = 0;;) {
      admit(now);
      if (!needed.empty() && (queued.empty() || queuedBytes < credit)) {
        send(now, begin);
        continue;
      }
      if (needed.empty() && next == layers.size())
        break;
      now = nextEvent();
    }
    order.period = periodOf(problem, order);
    return std::move(order);
  }

private:
  struct Slice {
    std::int64_t bytes;
    double finish;
  };

  /// Takes note of what is ready, and of what has travelled, by now.
  void admit(double now) {
    for (; next < layers.size() && layers[next].ready <= now; ++next)
      if (layers[next].bytes > 0)
        needed.emplace(problem.tail[next], next);
    for (; !queued.empty() && queued.front().finish <= now; queued.pop_front())
      queuedBytes -= queued.front().bytes;
  }

  void send(double now, const std::vector<std::int64_t> &begin) {
    const std::size_t k = needed.top().second;
    const std::int64_t bytes = std::min(size, layers[k].bytes - sent[k]);
    const double start = std::max(free, now);
    free = start + mergeClass.secondsOnClock(bytes);
    order.messages.push_back({.option = mergeClass.bestOption(bytes),
                              .begin = begin[k] + sent[k],
                              .end = begin[k] + sent[k] + bytes,
                              .start = start,
                              .finish = free});
    queued.push_back({bytes, free});
    queuedBytes += bytes;
    if ((sent[k] += bytes) == layers[k].bytes)
      needed.pop();
  }

  double nextEvent() const {
    if (queued.empty())
      return layers[next].ready;
    return next < layers.size() ? std::min(layers[next].ready, queued.front().finish)
                                : queued.front().finish;
  }

  const OrderProblem &problem;
  const std::vector<Layer> &layers;
  const MergeClass &mergeClass;
  std::int64_t size, credit; ///< bytes
  std::vector<std::int64_t> sent;
  std::priority_queue<std::pair<double, std::size_t>> needed;
  std::deque<Slice> queued;
  std::int64_t queuedBytes = 0;
  std::size_t next = 0; ///< the first layer that is not ready
  double free = 0;      ///< when the channel is free
  OrderSolution order;
};

} // namespace

Status usesFirstClass(const OrderProblem &problem) {
  std::int64_t bytes = 0;
  for (std::size_t k = 0; k < problem.sync.layers.size(); ++k) {
    if (!(problem.sync.layers[k].mergeClasses & 1))
      return Status::badInput("layer " + std::to_string(k + 1) +
                              " in backward order may not use the schemes that the others share");
    bytes += problem.sync.layers[k].bytes;
  }
  if (bytes > problem.sync.mergeClasses[0].capacity)
    return Status::badInput("the servers cannot hold all gradients");
  return Status::ok();
}

namespace {

/// Buckets of whole layers in ready order, as messages of the first class's layout without times.
struct DearBucket {
  OrderMessage message;
  double ready = 0, tail = 0; ///< the latest of its layers, the longest
};

std::vector<DearBucket> dearBuckets(const OrderProblem &problem, std::int64_t size) {
  const MergeClass &mergeClass = problem.sync.mergeClasses[0];
  std::vector<DearBucket> buckets;
  std::int64_t begin = 0;
  for (const Layer &layer : problem.sync.layers)
    begin += layer.bytes;
  for (std::size_t k = 0; k < problem.tail.size(); ++k) {
    const Layer &layer = problem.sync.layers[k];
    if (layer.bytes == 0)
      continue;
    if (buckets.empty() || buckets.back().message.bytes() >= size ||
        buckets.back().message.bytes() + layer.bytes > mergeClass.largestMessage)
      buckets.push_back({.message = {.begin = begin, .end = begin}});
    DearBucket &bucket = buckets.back();
    begin -= layer.bytes; // the class's layout is in forward order
    bucket.message.begin = begin;
    bucket.ready = layer.ready;
    bucket.tail = std::max(bucket.tail, problem.tail[k]);
  }
  return buckets;
}

} // namespace

Result<OrderSolution> dearOrder(const OrderProblem &problem, std::int64_t size) {
  const MergeClass &mergeClass = problem.sync.mergeClasses[0];
  std::vector<DearBucket> buckets = dearBuckets(problem, size);
  for (DearBucket &bucket : buckets) {
    const auto option = bestHalvedOption(mergeClass, bucket.message.bytes());
    if (!option)
      return Status::badInput("sends reduce-scatters and all-gathers: expected gradients that "
                              "travel by " +
                              listOf(schemesWhere<hasHalves>) + ", as with --scheme '*=ring'");
    bucket.message.option = *option;
  }
  OrderSolution order;
  order.choices.assign(problem.tail.size(), Choice{});
  double free = 0;
  const auto send = [&](DearBucket &bucket, Half half) {
    bucket.message.half = half;
    bucket.message.start = half == Half::first ? std::max(free, bucket.ready) : free;
    free = bucket.message.finish = bucket.message.start + secondsOf(problem.sync, bucket.message);
    order.messages.push_back(bucket.message);
  };
  for (DearBucket &bucket : buckets)
    send(bucket, Half::first);
  std::ranges::stable_sort(buckets, std::greater(), &DearBucket::tail);
  for (DearBucket &bucket : buckets)
    send(bucket, Half::second);
  order.period = periodOf(problem, order);
  return order;
}

OrderSolution priorityOrder(const OrderProblem &problem, std::int64_t size, std::int64_t credit) {
  return PriorityQueue(problem, size, credit).run();
}

namespace {

/// A rule whose preconditions hold.
template <typename Rival> PlannerMethod ordering(Rival rival) {
  return OrderRule([rival](const OrderProblem &problem) -> Result<OrderSolution> {
    SYNCLINE_TRY(usesFirstClass(problem));
    return rival(problem);
  });
}

} // namespace

std::vector<PlannerRow> orderingPlanners() {
  return {
      {{"p3:SIZE", "P3's slices of SIZE (its default: 200KB), what the next forward pass reads "
                   "first before others; with --overlap step"},
       [](std::int64_t size) {
         return ordering([size](const OrderProblem &p) { return priorityOrder(p, size); });
       }},
      {{"bytescheduler:SIZE", "ByteScheduler's partitions of SIZE (its default: 4096KB) through a "
                              "queue of SIZE; with --overlap step"},
       [](std::int64_t size) {
         return ordering([size](const OrderProblem &p) { return priorityOrder(p, size, size); });
       }},
      {{"dear:SIZE", "DeAR's buckets of SIZE: reduce-scatters in the backward pass, then "
                     "all-gathers, what the next forward pass reads first before others; with "
                     "--overlap step"},
       [](std::int64_t size) {
         return ordering([size](const OrderProblem &p) { return dearOrder(p, size); });
       }},
      {{"tictac", "whole layers, what the next forward pass reads first before others; with "
                  "--overlap step"},
       always(ordering([](const OrderProblem &p) { return priorityOrder(p, unlimited); }))},
  };
}

} // namespace syncline::solver
