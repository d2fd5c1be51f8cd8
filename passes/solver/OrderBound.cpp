// Finds the layers that bound the period.
#include "passes/solver/OrderBound.h"

#include "passes/solver/CostLines.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

namespace syncline::solver {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t thorough = 5'000'000, quick = 20'000; ///< effort, see bestFor()

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

/// The least seconds that a layer costs the channel beside a message's latency, what that latency
/// is, and what the layer costs without a bucket.
struct LayerWork {
  double work = infinity, latency = infinity, alone = infinity;
};

/// Whether the layer needs a message of its own in every solution. A piggyback may also arrive
/// before its gradient would be ready.
bool mustTravel(const Layer &layer) { return !layer.carrier && layer.bytes > 0; }

/// A second of reconstruction costs as many seconds on the channel as the weight of computation has
/// for each unit of the channel's weight.
LayerWork workOf(const Problem &problem, const OrderCertificate &certificate, std::size_t k) {
  const CostLines &lines = certificate.lines;
  const double price = (1 - certificate.channelWeight) / certificate.channelWeight;
  const Layer &layer = problem.layers[k];
  LayerWork least;
  for (std::size_t l = 0; l < problem.mergeClasses.size(); ++l)
    if (layer.mergeClasses >> l & 1) {
      least.work = std::min(least.work, lines[l].secondsPerByte * static_cast<double>(layer.bytes));
      least.latency = std::min(least.latency, lines[l].latency);
    }
  for (const FactorOption &option : layer.factorOptions)
    least.alone = std::min(least.alone, option.seconds + price * option.reconstruct);
  least.work = std::min(least.work, least.alone);
  if (!layer.factorOptions.empty())
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

/// The layers that the thresholds name; with `inBuckets` only those that must travel in a bucket.
struct Members {
  std::vector<Released> byReady, byTail;
  double latency = infinity; ///< of every message, beside the layers' work
  double inOne = 0;          ///< seconds in one message

  Members(const OrderProblem &problem, const OrderCertificate &certificate, bool inBuckets) {
    double least = 0, alone = 0, once = 0;
    for (std::size_t k = 0; k < problem.tail.size(); ++k) {
      const Layer &layer = problem.sync.layers[k];
      const double tail = problem.tailBehind(k);
      if (!mustTravel(layer) || layer.ready < certificate.ready || tail < certificate.tail ||
          (inBuckets && !layer.factorOptions.empty()))
        continue;
      const LayerWork work = workOf(problem.sync, certificate, k);
      byReady.push_back({layer.ready, work.work});
      byTail.push_back({tail, work.work});
      latency = std::min(latency, work.latency);
      least += work.work;
      alone += work.alone;
      if (layer.factorOptions.empty())
        once = std::max(once, work.latency);
    }
    latency = std::min(latency, alone - least);
    inOne = once + least;
    std::ranges::stable_sort(byReady, {}, &Released::release); // ordered() problems need it
    std::ranges::sort(byTail, {}, &Released::release);
  }

  double period(const OrderCertificate &certificate) const {
    if (byReady.empty())
      return 0;
    return std::max({certificate.ready + inOne + certificate.tail,
                     earliestEnd(byReady, latency) + certificate.tail,
                     certificate.ready + earliestEnd(byTail, latency)});
  }
};

/// Proves what the thresholds and lines of `certificate` prove.
void prove(const OrderProblem &problem, OrderCertificate &certificate) {
  double layers = Members(problem, certificate, false).period(certificate);
  if (std::ranges::any_of(problem.sync.layers,
                          [](const Layer &layer) { return !layer.factorOptions.empty(); }))
    layers = std::max(layers, Members(problem, certificate, true).period(certificate));
  const double weight = certificate.channelWeight;
  certificate.bound =
      std::max(problem.compute(), weight * layers + (1 - weight) * problem.compute());
}

/// The best thresholds for the lines and the weight of `base`. Layers enter with falling ready
/// times; each adds its work to all thresholds on the tail that it reaches. Latencies are left out
/// there, since they hardly differ between sets; those with the most work are then proved.
/// `effort` is how many layers all proofs may look at, roughly.
OrderCertificate bestFor(const OrderProblem &problem, const OrderCertificate &base,
                         std::size_t effort) {
  const std::size_t n = problem.tail.size();
  std::vector<double> tails(n);
  for (std::size_t k = 0; k < n; ++k)
    tails[k] = problem.tailBehind(k);
  std::ranges::sort(tails);
  tails.erase(std::unique(tails.begin(), tails.end()), tails.end());
  std::vector<std::size_t> latestFirst(n);
  std::iota(latestFirst.rbegin(), latestFirst.rend(), std::size_t{0});
  std::ranges::stable_sort(latestFirst, std::greater(),
                           [&](std::size_t k) { return problem.sync.layers[k].ready; });
  PrefixAddition bounds(tails);
  std::vector<OrderCertificate> sets;
  for (std::size_t k : latestFirst) {
    if (!mustTravel(problem.sync.layers[k]))
      continue;
    const auto reached = static_cast<std::size_t>(
        std::ranges::upper_bound(tails, problem.tailBehind(k)) - tails.begin());
    bounds.add(reached, workOf(problem.sync, base, k).work);
    const double ready = problem.sync.layers[k].ready;
    sets.push_back({.bound = ready + bounds.max(),
                    .channelWeight = base.channelWeight,
                    .ready = ready,
                    .tail = tails[bounds.argMax()],
                    .lines = base.lines});
  }
  // Each proof looks at all layers.
  const std::size_t proofs = std::min(sets.size(), std::max<std::size_t>(8, effort / (n + 1)));
  std::ranges::partial_sort(sets, sets.begin() + static_cast<std::ptrdiff_t>(proofs),
                            std::greater(), &OrderCertificate::bound);
  OrderCertificate best = base;
  prove(problem, best);
  // Latencies add about as much to one set as to another. Sets that would need several times as
  // much are left out.
  double mostAdded = 0;
  std::size_t proved = 0;
  for (OrderCertificate &set : std::span(sets).first(proofs)) {
    const double rough =
        base.channelWeight * set.bound + (1 - base.channelWeight) * problem.compute();
    if (proved++ >= 8 && rough + 4 * mostAdded < best.bound)
      break;
    prove(problem, set);
    if (set.bound > problem.compute())
      mostAdded = std::max(mostAdded, set.bound - rough);
    if (set.bound > best.bound)
      best = set;
  }
  return best;
}

} // namespace

static std::vector<CostLines> linesOf(const OrderProblem &problem) {
  std::array<std::int64_t, maxMergeClasses> most{};
  for (std::size_t l = 0; l < problem.sync.mergeClasses.size(); ++l) {
    for (const Layer &layer : problem.sync.layers)
      most[l] += layer.mergeClasses >> l & 1 ? layer.bytes : 0;
    most[l] = std::min(most[l], problem.sync.mergeClasses[l].largestMessage);
  }
  std::vector<double> parts;
  for (double part = 1; part > 1e-6; part /= 4)
    parts.push_back(part);
  return costLines(problem.sync, most, parts, true);
}

OrderCertificate quickOrderBound(const OrderProblem &problem, const OrderCertificate &known) {
  OrderCertificate same = known;
  prove(problem, same);
  OrderCertificate best =
      bestFor(problem, {.channelWeight = known.channelWeight, .lines = known.lines}, quick);
  return best.bound > same.bound ? best : same;
}

OrderCertificate orderBound(const OrderProblem &problem, const OrderCertificate *known) {
  const std::vector<CostLines> lines = linesOf(problem);
  OrderCertificate best;
  best.bound = problem.compute();
  const auto attempt = [&](double weight, const CostLines &under, std::size_t effort) {
    OrderCertificate next = bestFor(problem, {.channelWeight = weight, .lines = under}, effort);
    const bool isBetter = next.bound > best.bound;
    if (isBetter)
      best = next;
    return isBetter;
  };
  if (known) {
    best = *known;
    prove(problem, best);
  }
  for (const CostLines &under : lines)
    attempt(1, under, known ? quick : thorough);
  const auto reconstructs = [](const Layer &layer) {
    return std::ranges::any_of(layer.factorOptions,
                               [](const FactorOption &option) { return option.reconstruct > 0; });
  };
  if (std::ranges::none_of(problem.sync.layers, reconstructs))
    return best;
  // Whether layers that may travel by factors do so, is a choice between the channel's time and the
  // device's. A weight that makes both equally dear bounds it best.
  for (double step = 0.25; step > 0.005; step /= 2) {
    const double middle = best.channelWeight;
    for (double weight : {middle - 2 * step, middle - step, middle + step})
      if (weight > 0 && weight < 1)
        attempt(weight, best.bound > problem.compute() ? best.lines : lines.front(), quick);
  }
  for (const CostLines &under : lines)
    attempt(best.channelWeight, under, quick);
  return best;
}

} // namespace syncline::solver
