// Computes the relaxed recursion backwards from the target, and chooses relaxations.
#include "passes/solver/StateBound.h"

#include "passes/problem/Interference.h"
#include "passes/solver/CostLines.h"

#include <algorithm>
#include <cmath>

namespace syncline::solver {

namespace {

/// Lines under the costs: tangents at the largest message, at 1/16 and at 1/256 of it, and rays.
std::vector<CostLines> lineSets(const Problem &problem) {
  std::array<std::int64_t, maxMergeClasses> most{};
  bool raysHelp = false;
  for (std::size_t mergeClass = 0; mergeClass < problem.mergeClasses.size(); ++mergeClass) {
    std::int64_t eligible = 0;
    for (std::size_t k = 0; k < problem.layers.size(); ++k)
      eligible += problem.allows(k, mergeClass) ? problem.layers[k].bytes : 0;
    most[mergeClass] = std::min(eligible, problem.mergeClasses[mergeClass].largestMessage);
    raysHelp |= most[mergeClass] < eligible;
  }
  constexpr double parts[] = {1, 1.0 / 16, 1.0 / 256};
  return costLines(problem, most, parts, raysHelp);
}

/// The problem whose costs are what messages take from computation.
Problem lossesOf(const Problem &problem) {
  Problem losses = problem;
  for (MergeClass &mergeClass : losses.mergeClasses)
    for (SchemeOption &option : mergeClass.options)
      option.cost = option.lost ? option.lost : std::make_shared<AffineCost>(0, 0);
  return losses;
}

/// Sets the channel's weight. Where messages slow computation the lines depend on it: a message of
/// T seconds that takes L from computation is worth w (T - L) + L = w T + (1 - w) L.
class WeightedLines {
public:
  explicit WeightedLines(const Problem &problem) : slows(slowsComputation(problem)) {
    times = lineSets(problem);
    losses = slows ? lineSets(lossesOf(problem)) : times;
  }

  std::size_t sets() const { return times.size(); }

  void setWeight(Relaxation &relaxation, double weight, std::size_t set) const {
    relaxation.channelWeight = weight;
    relaxation.lines = times[set];
    if (!slows)
      return;
    const CostLines &lost = losses[std::min(set, losses.size() - 1)];
    for (std::size_t l = 0; l < maxMergeClasses; ++l)
      relaxation.lines[l] = {weight * times[set][l].latency + (1 - weight) * lost[l].latency,
                             weight * times[set][l].secondsPerByte +
                                 (1 - weight) * lost[l].secondsPerByte};
  }

private:
  bool slows;
  std::vector<CostLines> times, losses;
};

/// The least weighted work of all layers; it is concave in either weight.
double weightedWork(const Problem &problem, const Relaxation &relaxation) {
  double weight = relaxation.channelWeight;
  double work = (1 - weight) * problem.computeFree;
  const double onLines = slowsComputation(problem) ? 1 : weight;
  std::optional<std::size_t> limited = problem.limitedMergeClass();
  if (limited)
    work -= relaxation.heldWeight * static_cast<double>(problem.mergeClasses[*limited].capacity);
  for (std::size_t k = 0; k < problem.layers.size(); ++k) {
    const Layer &layer = problem.layers[k];
    double least = layer.carrier ? 0 : infinity;
    for (const FactorOption &factorOption : layer.factorOptions)
      least = std::min(least, weight * (factorOption.seconds - factorOption.lost) +
                                  (1 - weight) * factorOption.reconstruct + factorOption.lost);
    for (std::size_t mergeClass = 0; mergeClass < problem.mergeClasses.size(); ++mergeClass)
      if (problem.allows(k, mergeClass))
        least = std::min(least, (onLines * relaxation.lines[mergeClass].secondsPerByte +
                                 (mergeClass == limited ? relaxation.heldWeight : 0)) *
                                    static_cast<double>(layer.bytes));
    work += least;
  }
  return work;
}

/// Calls setWeight(value) with the value within [0, most] at which `relaxation` has most work.
template <typename SetWeight>
void maximize(const Problem &problem, const Relaxation &relaxation, double most,
              SetWeight setWeight) {
  double low = 0, high = most;
  auto workAt = [&](double value) {
    setWeight(value);
    return weightedWork(problem, relaxation);
  };
  for (int step = 0; step < 40; ++step) {
    double left = low + (high - low) / 3, right = high - (high - low) / 3;
    bool isRising = workAt(left) < workAt(right);
    (isRising ? low : high) = isRising ? left : right;
  }
  setWeight((low + high) / 2);
}

/// The greatest useful weight of a byte in the limited merge class: the most that any way around
/// the class costs per byte.
double dearestByte(const Problem &problem, const Relaxation &relaxation) {
  double dearest = 0;
  for (const Relaxation::Line &line : relaxation.lines)
    dearest = std::max(dearest, line.secondsPerByte);
  for (const Layer &layer : problem.layers)
    for (const FactorOption &factorOption : layer.factorOptions)
      dearest = std::max(dearest, (factorOption.seconds + factorOption.reconstruct) /
                                      std::max(1.0, static_cast<double>(layer.bytes)));
  return dearest;
}

} // namespace

std::vector<Relaxation> chooseRelaxations(const Problem &problem) {
  const WeightedLines lines(problem);
  std::vector<Relaxation> chosen(lines.sets());
  for (std::size_t set = 0; set < chosen.size(); ++set)
    lines.setWeight(chosen[set], 1, set);
  Relaxation first = chosen.front();
  if (problem.limitedMergeClass()) {
    Relaxation priced = first;
    maximize(problem, priced, dearestByte(problem, first),
             [&](double weight) { priced.heldWeight = weight; });
    chosen.push_back(priced);
    first = priced;
  }
  bool rebuilds = std::ranges::any_of(problem.layers, [](const Layer &layer) {
    return std::ranges::any_of(layer.factorOptions,
                               [](const FactorOption &s) { return s.reconstruct > 0; });
  });
  if (!rebuilds && !slowsComputation(problem))
    return chosen;
  Relaxation device = chosen.front();
  lines.setWeight(device, 0, 0);
  chosen.push_back(device);
  maximize(problem, first, 1, [&](double weight) { lines.setWeight(first, weight, 0); });
  if (first.channelWeight > 0.01 && first.channelWeight < 0.99)
    chosen.push_back(first);
  return chosen;
}

StateBound::StateBound(const Problem &problem, std::span<const Relaxation> relaxations,
                       double target)
    : relaxations(relaxations.begin(), relaxations.end()), target(target), pairs(problem),
      masks(std::size_t{1} << problem.mergeClasses.size()), freedoms(pairs.most == 1 ? 2 : 1),
      mergeClassCount(problem.mergeClasses.size()),
      limited(problem.limitedMergeClass().value_or(maxMergeClasses)),
      slows(slowsComputation(problem)), latest(relaxations.size()) {
  for (std::size_t i = 0; i < relaxations.size(); ++i)
    slows ? fill<true>(problem, i) : fill<false>(problem, i);
}

template <bool isSlow> void StateBound::fill(const Problem &problem, std::size_t index) {
  const Relaxation &relaxation = relaxations[index];
  double onChannel = relaxation.channelWeight, onDevice = 1 - onChannel;
  double onLines = isSlow ? 1 : onChannel; // if slow, the lines have the weight in them
  std::size_t n = problem.layers.size();
  std::vector<double> &table = latest[index];
  table.assign((n + 1) * masks * freedoms, -infinity);
  // At the end the limited merge class holds at most its capacity.
  table[entry(n, 0, 0)] = target;
  if (limited < maxMergeClasses)
    table[entry(n, 0, 0)] +=
        relaxation.heldWeight * static_cast<double>(problem.mergeClasses[limited].capacity);
  for (std::size_t k = n; k-- > 0;) {
    const Layer &layer = problem.layers[k];
    double nextReady = k + 1 < n ? problem.layers[k + 1].ready : 0;
    for (std::size_t now = 0; now < masks * freedoms; ++now) {
      std::size_t mask = now / freedoms;
      double best = -infinity;
      // `work` is what the choice adds; `free` and `compute` are the earliest times after it. Where
      // messages slow computation, a line only bounds what a bucket adds, which is `sent`. `owed`
      // counts, but delays no message yet: an open bucket's bytes, or computation that is taken.
      auto consider = [&](Choice::Kind kind, std::size_t after, double work, double free,
                          double compute, double sent = 0, double owed = 0) {
        std::uint64_t freedom = now % freedoms;
        if (freedoms > 1 && !pairs.settle(freedom, k, kind))
          return;
        double limit = table[entry(k + 1, after, freedom)];
        double least = onChannel * std::max(free, nextReady);
        if (isSlow)
          least = std::max(least, onChannel * layer.ready + sent) + owed;
        least += onDevice * compute;
        if (isViable(limit - least))
          best = std::max(best, limit - work);
      };
      for (const FactorOption &factorOption : layer.factorOptions) {
        const double seconds = factorOption.seconds - factorOption.lost;
        double end = layer.ready + seconds;
        double built = problem.computeFree + factorOption.reconstruct;
        if (factorOption.reconstruct > 0)
          built = std::max(built, end + factorOption.reconstruct);
        consider(Choice::Kind::factors, mask,
                 onChannel * seconds + onDevice * factorOption.reconstruct + factorOption.lost, end,
                 built, 0, factorOption.lost);
      }
      if (layer.carrier)
        consider(Choice::Kind::piggyback, mask, 0, layer.ready, problem.computeFree);
      for (std::size_t mergeClass = 0; mergeClass < mergeClassCount; ++mergeClass) {
        if (!problem.allows(k, mergeClass))
          continue;
        const Relaxation::Line &line = relaxation.lines[mergeClass];
        double body = line.secondsPerByte * static_cast<double>(layer.bytes);
        std::size_t bit = std::size_t{1} << mergeClass;
        double held =
            mergeClass == limited ? relaxation.heldWeight * static_cast<double>(layer.bytes) : 0;
        const double price = line.latency + body;
        consider(Choice::Kind::join, mask | bit, onLines * body + held, layer.ready,
                 problem.computeFree, 0, body);
        consider(Choice::Kind::bucket, mask & ~bit, onLines * price + held,
                 isSlow ? layer.ready : layer.ready + line.latency + body, problem.computeFree,
                 price);
      }
      table[k * masks * freedoms + now] = best;
    }
  }
}

double StateBound::slack(const PlanState &state, std::size_t k) const {
  std::size_t mask = 0;
  for (std::size_t mergeClass = 0; mergeClass < mergeClassCount; ++mergeClass)
    mask |= static_cast<std::size_t>(state.open[mergeClass] >= 0) << mergeClass;
  double least = target - state.compute;
  for (std::size_t i = 0; i < relaxations.size(); ++i) {
    const Relaxation &relaxation = relaxations[i];
    double committed = slows ? 0 : state.free; // if so, the lines have the weight in them
    for (std::size_t mergeClass = 0; mergeClass < mergeClassCount; ++mergeClass)
      if (state.open[mergeClass] > 0)
        committed += relaxation.lines[mergeClass].secondsPerByte *
                     static_cast<double>(state.open[mergeClass]);
    double onChannel = relaxation.channelWeight;
    committed = slows ? onChannel * state.free + committed : onChannel * committed;
    double value = committed + (1 - onChannel) * state.compute +
                   relaxation.heldWeight * static_cast<double>(state.held);
    least = std::min(least, latest[i][entry(k, mask, state.freedom)] - value);
  }
  return least;
}

} // namespace syncline::solver
