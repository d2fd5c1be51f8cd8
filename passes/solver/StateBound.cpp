// Computes the relaxed recursion backwards from the target, and chooses relaxations.
#include "passes/solver/StateBound.h"

#include <algorithm>
#include <cmath>

namespace syncline::solver {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Point {
  double bytes, seconds;
};

/// Corners of the merge class's cost up to `most` bytes; empty where an option has no
/// straight pieces.
std::vector<Point> corners(const MergeClass &mergeClass, std::int64_t most) {
  std::vector<Point> points;
  for (const SchemeOption &option : mergeClass.options) {
    std::span<const CostSegment> segments = option.cost->segments();
    if (segments.empty())
      return {};
    for (std::size_t s = 0; s < segments.size() && segments[s].firstByte <= most; ++s) {
      std::int64_t last = s + 1 < segments.size() ? segments[s + 1].firstByte - 1 : most;
      for (std::int64_t bytes : {segments[s].firstByte, std::min(last, most)})
        points.push_back({static_cast<double>(bytes), option.cost->seconds(bytes)});
    }
  }
  std::ranges::sort(points, [](const Point &a, const Point &b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.seconds < b.seconds;
  });
  return points;
}

/// The lower convex hull of sorted points.
std::vector<Point> lowerHull(std::span<const Point> points) {
  std::vector<Point> hull;
  for (const Point &next : points) {
    if (!hull.empty() && hull.back().bytes == next.bytes)
      continue;
    while (hull.size() >= 2) {
      const Point &a = hull[hull.size() - 2], &b = hull.back();
      double through = (b.seconds - a.seconds) * (next.bytes - a.bytes);
      if (through < (next.seconds - a.seconds) * (b.bytes - a.bytes))
        break;
      hull.pop_back();
    }
    hull.push_back(next);
  }
  return hull;
}

/// The steepest line through the origin under all points: each byte pays its share of a message.
Relaxation::Line ray(std::span<const Point> points) {
  double slope = infinity;
  for (const Point &point : points)
    if (point.bytes > 0)
      slope = std::min(slope, point.seconds / point.bytes);
  return {0, std::isfinite(slope) ? slope : 0};
}

/// The line along the hull at `bytes`, turned where its slope or latency would be negative.
Relaxation::Line tangent(std::span<const Point> hull, double bytes) {
  if (hull.empty())
    return {};
  if (hull.size() == 1)
    return {hull[0].seconds, 0};
  std::size_t edge = 0;
  while (edge + 2 < hull.size() && hull[edge + 1].bytes < bytes)
    ++edge;
  const Point &a = hull[edge], &b = hull[edge + 1];
  double slope = (b.seconds - a.seconds) / (b.bytes - a.bytes);
  double latency = a.seconds - slope * a.bytes;
  if (slope < 0)
    return {std::ranges::min(hull, {}, &Point::seconds).seconds, 0};
  return latency < 0 ? ray(hull) : Relaxation::Line{latency, slope};
}

/// Lines for all merge classes: tangents at the largest message, at 1/16 and at 1/256 of it,
/// and rays.
std::vector<Relaxation> lineSets(const Problem &problem) {
  std::vector<Relaxation> sets(3);
  Relaxation rays;
  bool raysHelp = false;
  for (std::size_t mergeClass = 0; mergeClass < problem.mergeClasses.size(); ++mergeClass) {
    std::int64_t eligible = 0;
    for (std::size_t k = 0; k < problem.layers.size(); ++k)
      eligible += problem.allows(k, mergeClass) ? problem.layers[k].bytes : 0;
    std::int64_t most = std::min(eligible, problem.mergeClasses[mergeClass].largestMessage);
    raysHelp |= most < eligible;
    std::vector<Point> points = corners(problem.mergeClasses[mergeClass], most);
    std::vector<Point> hull = lowerHull(points);
    double at = static_cast<double>(most);
    for (Relaxation &set : sets) {
      set.lines[mergeClass] = tangent(hull, at);
      at /= 16;
    }
    rays.lines[mergeClass] = ray(points);
  }
  if (raysHelp)
    sets.push_back(rays);
  auto same = [](const Relaxation &a, const Relaxation &b) {
    return std::ranges::equal(a.lines, b.lines, [](const auto &x, const auto &y) {
      return x.latency == y.latency && x.secondsPerByte == y.secondsPerByte;
    });
  };
  sets.erase(std::unique(sets.begin(), sets.end(), same), sets.end());
  return sets;
}

/// The least weighted work of all layers; it is concave in either weight.
double weightedWork(const Problem &problem, const Relaxation &relaxation) {
  double weight = relaxation.channelWeight;
  double work = (1 - weight) * problem.computeFree;
  std::optional<std::size_t> limited = problem.limitedMergeClass();
  if (limited)
    work -= relaxation.heldWeight * static_cast<double>(problem.mergeClasses[*limited].capacity);
  for (std::size_t k = 0; k < problem.layers.size(); ++k) {
    const Layer &layer = problem.layers[k];
    double least = layer.carrier ? 0 : infinity;
    for (const FactorOption &factorOption : layer.factorOptions)
      least =
          std::min(least, weight * factorOption.seconds + (1 - weight) * factorOption.reconstruct);
    for (std::size_t mergeClass = 0; mergeClass < problem.mergeClasses.size(); ++mergeClass)
      if (problem.allows(k, mergeClass))
        least = std::min(least, (weight * relaxation.lines[mergeClass].secondsPerByte +
                                 (mergeClass == limited ? relaxation.heldWeight : 0)) *
                                    static_cast<double>(layer.bytes));
    work += least;
  }
  return work;
}

/// Sets `weight`, a field of `relaxation`, to the value within [0, most] with the greatest work.
void maximize(const Problem &problem, Relaxation &relaxation, double &weight, double most) {
  double low = 0, high = most;
  auto workAt = [&](double value) {
    weight = value;
    return weightedWork(problem, relaxation);
  };
  for (int step = 0; step < 40; ++step) {
    double left = low + (high - low) / 3, right = high - (high - low) / 3;
    bool isRising = workAt(left) < workAt(right);
    (isRising ? low : high) = isRising ? left : right;
  }
  weight = (low + high) / 2;
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
  std::vector<Relaxation> chosen = lineSets(problem);
  Relaxation first = chosen.front();
  if (problem.limitedMergeClass()) {
    Relaxation priced = first;
    maximize(problem, priced, priced.heldWeight, dearestByte(problem, first));
    chosen.push_back(priced);
    first = priced;
  }
  bool rebuilds = std::ranges::any_of(problem.layers, [](const Layer &layer) {
    return std::ranges::any_of(layer.factorOptions,
                               [](const FactorOption &s) { return s.reconstruct > 0; });
  });
  if (!rebuilds)
    return chosen;
  Relaxation device = chosen.front();
  device.channelWeight = 0;
  chosen.push_back(device);
  maximize(problem, first, first.channelWeight, 1);
  if (first.channelWeight > 0.01 && first.channelWeight < 0.99)
    chosen.push_back(first);
  return chosen;
}

StateBound::StateBound(const Problem &problem, std::span<const Relaxation> relaxations,
                       double target)
    : relaxations(relaxations.begin(), relaxations.end()), target(target), pairs(problem),
      masks(std::size_t{1} << problem.mergeClasses.size()), freedoms(pairs.most == 1 ? 2 : 1),
      mergeClassCount(problem.mergeClasses.size()),
      limited(problem.limitedMergeClass().value_or(maxMergeClasses)), latest(relaxations.size()) {
  for (std::size_t i = 0; i < relaxations.size(); ++i)
    fill(problem, i);
}

void StateBound::fill(const Problem &problem, std::size_t index) {
  const Relaxation &relaxation = relaxations[index];
  double onChannel = relaxation.channelWeight, onDevice = 1 - onChannel;
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
      // `work` is what the choice adds; `free` and `compute` are the earliest times after it.
      auto consider = [&](Choice::Kind kind, std::size_t after, double work, double free,
                          double compute) {
        std::uint64_t freedom = now % freedoms;
        if (freedoms > 1 && !pairs.settle(freedom, k, kind))
          return;
        double limit = table[entry(k + 1, after, freedom)];
        double least = onChannel * std::max(free, nextReady) + onDevice * compute;
        if (isViable(limit - least))
          best = std::max(best, limit - work);
      };
      for (const FactorOption &factorOption : layer.factorOptions) {
        double end = layer.ready + factorOption.seconds;
        double built = problem.computeFree + factorOption.reconstruct;
        if (factorOption.reconstruct > 0)
          built = std::max(built, end + factorOption.reconstruct);
        consider(Choice::Kind::factors, mask,
                 onChannel * factorOption.seconds + onDevice * factorOption.reconstruct, end,
                 built);
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
        consider(Choice::Kind::join, mask | bit, onChannel * body + held, layer.ready,
                 problem.computeFree);
        consider(Choice::Kind::close, mask & ~bit, onChannel * (line.latency + body) + held,
                 layer.ready + line.latency + body, problem.computeFree);
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
    double committed = state.free;
    for (std::size_t mergeClass = 0; mergeClass < mergeClassCount; ++mergeClass)
      if (state.open[mergeClass] > 0)
        committed += relaxation.lines[mergeClass].secondsPerByte *
                     static_cast<double>(state.open[mergeClass]);
    double onChannel = relaxation.channelWeight;
    double value = onChannel * committed + (1 - onChannel) * state.compute +
                   relaxation.heldWeight * static_cast<double>(state.held);
    least = std::min(least, latest[i][entry(k, mask, state.freedom)] - value);
  }
  return least;
}

} // namespace syncline::solver
