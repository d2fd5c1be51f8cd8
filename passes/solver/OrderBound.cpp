// Finds the layers that bound the period.
#include "passes/solver/OrderBound.h"

#include "passes/problem/Interference.h"
#include "passes/solver/CostLines.h"

#include <algorithm>
#include <functional>
#include <ranges>
#include <utility>

namespace syncline::solver {

namespace {

constexpr std::size_t thorough = 5'000'000, quick = 20'000; ///< effort, see Bounds::best()

/// Values at positions 0..n-1 with addition to a prefix and the maximum of all, each O(log n).
class PrefixAddition {
public:
  explicit PrefixAddition(std::span<const double> values) : leaves(1) {
    while (leaves < values.size())
      leaves *= 2;
    greatest.assign(2 * leaves, -infinity);
    added.assign(2 * leaves, 0);
    std::ranges::copy(values, greatest.begin() + static_cast<std::ptrdiff_t>(leaves));
    for (std::size_t node = leaves - 1; node > 0; --node)
      greatest[node] = std::max(greatest[2 * node], greatest[2 * node + 1]);
  }

  /// Adds `value` at the positions before `count`.
  void add(std::size_t count, double value) { add(1, 0, leaves, count, value); }

  double max() const { return greatest[1]; }
  std::size_t argMax() const {
    std::size_t node = 1;
    while (node < leaves)
      node = greatest[2 * node] >= greatest[2 * node + 1] ? 2 * node : 2 * node + 1;
    return node - leaves;
  }

private:
  void add(std::size_t node, std::size_t begin, std::size_t end, std::size_t count, double value) {
    if (count <= begin)
      return;
    if (end <= count) {
      greatest[node] += value;
      added[node] += value;
      return;
    }
    const std::size_t middle = begin + (end - begin) / 2;
    add(2 * node, begin, middle, count, value);
    add(2 * node + 1, middle, end, count, value);
    greatest[node] = added[node] + std::max(greatest[2 * node], greatest[2 * node + 1]);
  }

  std::size_t leaves;
  std::vector<double> greatest, added;
};

/// A layer that needs a message of its own, and the least seconds that it costs the channel.
struct LayerWork {
  double ready = 0, tail = 0; ///< of the layer
  bool inBucket = false;      ///< whether it must travel in a bucket
  double work = infinity;     ///< beside a message's latency
  double latency = infinity;
  double alone = infinity; ///< without a bucket
  double beside = 0;       ///< what its message takes from computation where it is not named
};

/// Whether the layer needs a message of its own in every solution. A piggyback may also arrive
/// before its gradient would be ready.
bool mustTravel(const Layer &layer) { return !layer.carrier && layer.bytes > 0; }

/// A second of reconstruction, or taken from computation, costs as many seconds on the channel as
/// the weight of computation has for each unit of the channel's weight.
LayerWork workOf(const OrderProblem &problem, const OrderCertificate &certificate, std::size_t k) {
  const CostLines &lines = certificate.lines;
  const double price = (1 - certificate.channelWeight) / certificate.channelWeight;
  const Layer &layer = problem.sync.layers[k];
  LayerWork least{layer.ready, problem.tailBehind(k), layer.factorOptions.empty()};
  for (std::size_t l = 0; l < problem.sync.mergeClasses.size(); ++l)
    if (layer.mergeClasses >> l & 1) {
      least.work = std::min(least.work, lines[l].secondsPerByte * static_cast<double>(layer.bytes));
      least.latency = std::min(least.latency, lines[l].latency);
    }
  for (const FactorOption &option : layer.factorOptions)
    least.alone =
        std::min(least.alone, option.seconds + price * (option.reconstruct + option.lost));
  least.work = std::min(least.work, least.alone);
  if (!least.inBucket)
    least.latency = std::min(least.latency, least.alone - least.work);
  return least;
}

/// One layer of a set, where `release` is its ready time or its tail.
struct Released {
  double release = 0, work = 0; ///< seconds
};

/// The textbook recursion of merging alone for a line: when the last of these ends at the earliest.
/// Among cuts that have ended by the release the last one is best; among the others the one that
/// has spent the least time beside its work.
double earliestEnd(std::span<const Released> parts, double latency) {
  std::vector<double> end(parts.size() + 1, 0), overhead(parts.size() + 1, 0);
  std::vector<std::size_t> late;
  late.reserve(parts.size());
  std::size_t early = 0, firstLate = 0;
  double done = 0; // work of all parts so far
  for (std::size_t j = 1; j <= parts.size(); ++j) {
    const double release = parts[j - 1].release;
    while (early + 1 < j && end[early + 1] <= release)
      ++early;
    while (firstLate < late.size() && late[firstLate] <= early)
      ++firstLate;
    done += parts[j - 1].work;
    overhead[j] = latency + std::max(release, end[early]) - (end[early] - overhead[early]);
    if (firstLate < late.size())
      overhead[j] = std::min(overhead[j], latency + overhead[late[firstLate]]);
    end[j] = overhead[j] + done;
    while (late.size() > firstLate && overhead[late.back()] >= overhead[j])
      late.pop_back();
    late.push_back(j);
  }
  return end.back();
}

/// What thresholds prove by the lines and the weight of `base`.
class Bounds {
public:
  Bounds(const OrderProblem &problem, const OrderCertificate &base) : problem(problem), base(base) {
    const LeastLost leastLost(problem);
    leastPeriod = leastLost.period();
    for (std::size_t k = 0; k < problem.tail.size(); ++k)
      if (mustTravel(problem.sync.layers[k])) {
        inOrder.push_back(workOf(problem, base, k));
        inOrder.back().beside = leastLost.beside(k, base.channelWeight, base.lines);
      }
    byReady = inOrder;
    std::ranges::stable_sort(byReady, {}, &LayerWork::ready); // ordered() problems need it
  }

  OrderCertificate prove(double ready, double tail) const {
    double layers = layersBound(ready, tail, false);
    if (std::ranges::any_of(inOrder, [&](const LayerWork &layer) {
          return !layer.inBucket && layer.ready >= ready && layer.tail >= tail;
        }))
      layers = std::max(layers, layersBound(ready, tail, true));
    OrderCertificate certificate = base;
    certificate.ready = ready;
    certificate.tail = tail;
    certificate.bound = std::max(leastPeriod, weighted(layers));
    return certificate;
  }

  /// The best thresholds. Layers enter with falling ready times; each adds its work to all
  /// thresholds on the tail that it reaches. Latencies are left out there, since they hardly differ
  /// between sets; those with the most work are then proved. `effort` is how many layers all proofs
  /// may look at, roughly.
  OrderCertificate best(std::size_t effort) const;

private:
  /// The layers with at least this ready time and tail, and the bound without their latencies.
  struct Thresholds {
    double ready = 0, tail = 0, bound = 0; ///< seconds
  };
  /// One for each ready time.
  std::vector<Thresholds> candidates() const;

  double weighted(double layers) const {
    return base.channelWeight * layers + (1 - base.channelWeight) * problem.compute();
  }

  /// When the layers that the thresholds name, with `inBuckets` only those that must travel in a
  /// bucket, have travelled and what follows them is computed; and what others take from
  /// computation, divided by the channel's weight.
  double layersBound(double ready, double tail, bool inBuckets) const;

  const OrderProblem &problem;
  const OrderCertificate &base;
  double leastPeriod = 0; ///< seconds of computation, with what messages take
  std::vector<LayerWork> inOrder, byReady;
};

double Bounds::layersBound(double ready, double tail, bool inBuckets) const {
  const auto isNamed = [&](const LayerWork &layer) {
    return layer.ready >= ready && layer.tail >= tail && (layer.inBucket || !inBuckets);
  };
  double latency = infinity; // of every message, beside the layers' work
  double least = 0, alone = 0, once = 0, beside = 0;
  std::vector<Released> forward, backward;
  forward.reserve(inOrder.size());
  backward.reserve(inOrder.size());
  for (const LayerWork &layer : inOrder) {
    if (!isNamed(layer)) {
      beside += layer.beside;
      continue;
    }
    backward.push_back({layer.tail, layer.work});
    latency = std::min(latency, layer.latency);
    least += layer.work;
    alone += layer.alone;
    if (layer.inBucket)
      once = std::max(once, layer.latency);
  }
  beside /= base.channelWeight;
  if (backward.empty())
    return beside;
  for (const LayerWork &layer : byReady)
    if (isNamed(layer))
      forward.push_back({layer.ready, layer.work});
  std::ranges::sort(backward, {}, &Released::release);
  latency = std::min(latency, alone - least);
  return std::max({ready + (once + least) + tail, earliestEnd(forward, latency) + tail,
                   ready + earliestEnd(backward, latency)}) +
         beside;
}

std::vector<Bounds::Thresholds> Bounds::candidates() const {
  std::vector<double> tails;
  for (std::size_t k = 0; k < problem.tail.size(); ++k)
    tails.push_back(problem.tailBehind(k));
  std::ranges::sort(tails);
  tails.erase(std::unique(tails.begin(), tails.end()), tails.end());
  PrefixAddition bounds(tails);
  std::vector<Thresholds> sets;
  double beside = 0; // of all layers, which those that enter no longer count
  for (const LayerWork &layer : inOrder)
    beside += layer.beside / base.channelWeight;
  for (const LayerWork &layer : byReady | std::views::reverse) {
    const auto reached =
        static_cast<std::size_t>(std::ranges::upper_bound(tails, layer.tail) - tails.begin());
    bounds.add(reached, layer.work - layer.beside / base.channelWeight);
    sets.push_back({layer.ready, tails[bounds.argMax()], layer.ready + bounds.max() + beside});
  }
  return sets;
}

OrderCertificate Bounds::best(std::size_t effort) const {
  std::vector<Thresholds> sets = candidates();
  // Each proof looks at all layers.
  const std::size_t proofs =
      std::min(sets.size(), std::max<std::size_t>(8, effort / (problem.tail.size() + 1)));
  std::ranges::partial_sort(sets, sets.begin() + static_cast<std::ptrdiff_t>(proofs),
                            std::greater(), &Thresholds::bound);
  OrderCertificate best = prove(0, 0);
  // Latencies add about as much to one set as to another. Sets that would need several times as
  // much are left out.
  double mostAdded = 0;
  std::size_t proved = 0;
  for (const Thresholds &set : std::span(sets).first(proofs)) {
    const double rough = weighted(set.bound);
    if (proved++ >= 8 && rough + 4 * mostAdded < best.bound)
      break;
    OrderCertificate next = prove(set.ready, set.tail);
    if (next.bound > leastPeriod)
      mostAdded = std::max(mostAdded, next.bound - rough);
    if (next.bound > best.bound)
      best = std::move(next);
  }
  return best;
}

} // namespace

/// Lines under the costs, with what messages take from computation for this weight of the channel.
static std::vector<CostLines> linesOf(const OrderProblem &problem, double channelWeight) {
  std::array<std::int64_t, maxMergeClasses> most{};
  for (std::size_t l = 0; l < problem.sync.mergeClasses.size(); ++l) {
    for (const Layer &layer : problem.sync.layers)
      most[l] += layer.mergeClasses >> l & 1 ? layer.bytes : 0;
    most[l] = std::min(most[l], problem.sync.mergeClasses[l].largestMessage);
  }
  std::vector<double> parts;
  for (double part = 1; part > 1e-6; part /= 4)
    parts.push_back(part);
  if (channelWeight == 1 || !slowsComputation(problem.sync))
    return costLines(problem.sync, most, parts, true);
  Problem weighted = problem.sync;
  for (MergeClass &mergeClass : weighted.mergeClasses)
    for (SchemeOption &option : mergeClass.options)
      if (option.lost)
        option.cost = withLost(*option.cost, (1 - channelWeight) / channelWeight, *option.lost);
  return costLines(weighted, most, parts, true);
}

OrderCertificate quickOrderBound(const OrderProblem &problem, const OrderCertificate &known) {
  const OrderCertificate base{.channelWeight = known.channelWeight, .lines = known.lines};
  const Bounds bounds(problem, base);
  OrderCertificate same = bounds.prove(known.ready, known.tail), best = bounds.best(quick);
  return best.bound > same.bound ? best : same;
}

OrderCertificate orderBound(const OrderProblem &problem, const OrderCertificate *known) {
  const bool slows = slowsComputation(problem.sync);
  const std::vector<CostLines> lines = linesOf(problem, 1);
  OrderCertificate best;
  best.bound = LeastLost(problem).period();
  const double leastPeriod = best.bound;
  const auto attempt = [&](double weight, const CostLines &under, std::size_t effort) {
    const OrderCertificate base{.channelWeight = weight, .lines = under};
    OrderCertificate next = Bounds(problem, base).best(effort);
    const bool isBetter = next.bound > best.bound;
    if (isBetter)
      best = next;
    return isBetter;
  };
  if (known)
    best = Bounds(problem, *known).prove(known->ready, known->tail);
  for (const CostLines &under : lines)
    attempt(1, under, known ? quick : thorough);
  const auto reconstructs = [](const Layer &layer) {
    return std::ranges::any_of(layer.factorOptions,
                               [](const FactorOption &option) { return option.reconstruct > 0; });
  };
  if (!slows && std::ranges::none_of(problem.sync.layers, reconstructs))
    return best;
  // Whether layers that may travel by factors do so, is a choice between the channel's time and the
  // device's. A weight that makes both equally dear bounds it best.
  for (double step = 0.25; step > 0.005; step /= 2) {
    const double middle = best.channelWeight;
    for (double weight : {middle - 2 * step, middle - step, middle + step}) {
      if (weight <= 0 || weight >= 1)
        continue;
      if (slows) {
        for (const CostLines &under : linesOf(problem, weight))
          attempt(weight, under, quick);
      } else {
        attempt(weight, best.bound > leastPeriod ? best.lines : lines.front(), quick);
      }
    }
  }
  for (const CostLines &under : linesOf(problem, best.channelWeight))
    attempt(best.channelWeight, under, quick);
  return best;
}

} // namespace syncline::solver
