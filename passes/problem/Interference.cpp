// What messages take from computation.
#include "passes/problem/Interference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace syncline::problem {

double Interference::lost(double latencySeconds, double seconds) const {
  const double early = std::min(latencySeconds, seconds);
  return early * (1 - 1 / latency) + (seconds - early) * (1 - 1 / beside);
}

namespace {

/// The last byte of a cost's piece. The last piece goes on for ever; a long stretch of it keeps its
/// slope to the last digits.
std::int64_t lastOf(std::span<const CostSegment> pieces, std::size_t i) {
  const std::int64_t first = pieces[i].firstByte;
  const std::int64_t stretch = std::max(first, std::int64_t{1} << 40);
  return i + 1 < pieces.size()
             ? pieces[i + 1].firstByte - 1
             : first + std::min(stretch, std::numeric_limits<std::int64_t>::max() - first);
}

/// Points through which lost() is straight: the corners of the cost, and in each piece the two
/// sizes around which it passes the latency.
std::vector<std::int64_t> cornersOf(const CollectiveCost &cost) {
  const std::span<const CostSegment> pieces = cost.segments();
  const double latency = cost.seconds(0);
  std::vector<std::int64_t> corners;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const CostSegment &piece = pieces[i];
    const std::int64_t last = lastOf(pieces, i);
    corners.push_back(piece.firstByte);
    const double passed = (latency - piece.base) / piece.slope;
    if (piece.slope != 0 && passed > 0 && passed < static_cast<double>(last - piece.firstByte)) {
      const std::int64_t at = piece.firstByte + static_cast<std::int64_t>(std::floor(passed));
      for (std::int64_t bytes : {at, at + 1})
        if (bytes > corners.back() && bytes < last)
          corners.push_back(bytes);
    }
    if (last > corners.back())
      corners.push_back(last);
  }
  return corners;
}

} // namespace

std::shared_ptr<const CollectiveCost> lostCost(const CollectiveCost &cost,
                                               const Interference &interference) {
  if (!interference.slows())
    return nullptr;
  const double latency = cost.seconds(0);
  if (const std::span<const CostSegment> pieces = cost.segments();
      pieces.size() == 1 && pieces[0].slope >= 0)
    return std::make_shared<AffineCost>(interference.lost(latency, latency),
                                        pieces[0].slope * (1 - 1 / interference.beside));
  std::vector<CostPoint> points;
  for (std::int64_t bytes : cornersOf(cost))
    points.push_back({bytes, interference.lost(latency, cost.seconds(bytes))});
  // A point on the line between its neighbours says nothing.
  std::vector<CostPoint> needed;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i > 0 && i + 1 < points.size()) {
      const CostPoint &a = needed.back(), &b = points[i], &c = points[i + 1];
      const double part =
          static_cast<double>(b.bytes - a.bytes) / static_cast<double>(c.bytes - a.bytes);
      if (std::abs(a.seconds + part * (c.seconds - a.seconds) - b.seconds) <= 1e-15 * b.seconds)
        continue;
    }
    needed.push_back(points[i]);
  }
  return std::make_shared<TableCost>(*TableCost::create(needed));
}

std::shared_ptr<const CollectiveCost> withLost(const CollectiveCost &cost, double times,
                                               const CollectiveCost &lost) {
  std::vector<std::int64_t> corners;
  for (const CollectiveCost *one : {&cost, &lost})
    for (std::size_t i = 0; i < one->segments().size(); ++i) {
      corners.push_back(one->segments()[i].firstByte);
      corners.push_back(lastOf(one->segments(), i));
    }
  std::ranges::sort(corners);
  corners.erase(std::unique(corners.begin(), corners.end()), corners.end());
  std::vector<CostPoint> points;
  for (std::int64_t bytes : corners)
    points.push_back({bytes, cost.seconds(bytes) + times * lost.seconds(bytes)});
  return std::make_shared<TableCost>(*TableCost::create(points));
}

// In a piece seconds per byte only rise or only fall, so that one of its ends has the least.
double leastLostPerByte(const MergeClass &mergeClass, std::int64_t most) {
  double least = std::numeric_limits<double>::infinity();
  for (const SchemeOption &option : mergeClass.options) {
    if (!option.lost)
      return 0;
    const std::span<const CostSegment> pieces = option.lost->segments();
    for (std::size_t i = 0; i < pieces.size() && pieces[i].firstByte <= most; ++i) {
      const std::int64_t last = i + 1 < pieces.size() ? pieces[i + 1].firstByte - 1 : most;
      for (std::int64_t bytes : {pieces[i].firstByte, std::min(last, most)}) {
        bytes = std::max<std::int64_t>(bytes, 1);
        least = std::min(least, option.lostSeconds(bytes) / static_cast<double>(bytes));
      }
    }
  }
  return std::isfinite(least) ? least : 0;
}

void setLost(SchemeOption &option, const SchemeInterference &interference) {
  option.lost = lostCost(*option.cost, interference.all);
  option.lostBy = {};
  for (std::size_t work = 0; interference.of && work < workClasses; ++work)
    option.lostBy.of[work] = lostCost(*option.cost, interference.of->of[work]);
}

void setLost(FactorOption &option, const SchemeInterference &interference, double latencySeconds) {
  option.lost = interference.all.lost(latencySeconds, option.seconds);
  option.lostBy = {};
  for (std::size_t work = 0; interference.of && work < workClasses; ++work)
    option.lostBy.of[work] = interference.of->of[work].lost(latencySeconds, option.seconds);
}

bool slowsComputation(const Problem &problem) {
  const auto takes = [](const auto &of) {
    return of.lost != decltype(of.lost)() || of.lostBy != decltype(of.lostBy)();
  };
  return std::ranges::any_of(
             problem.mergeClasses,
             [&](const MergeClass &of) { return std::ranges::any_of(of.options, takes); }) ||
         std::ranges::any_of(problem.layers, [&](const Layer &of) {
           return std::ranges::any_of(of.factorOptions, takes);
         });
}

/// Changes all options, and tells no classes apart any more.
template <typename Change> static Problem withLosses(Problem problem, Change change) {
  problem.memoryBound.reset();
  const auto set = [&](auto &option) {
    change(option);
    option.lostBy = {};
  };
  for (MergeClass &mergeClass : problem.mergeClasses)
    std::ranges::for_each(mergeClass.options, set);
  for (Layer &layer : problem.layers)
    std::ranges::for_each(layer.factorOptions, set);
  return problem;
}

Problem withoutLosses(Problem problem) {
  return withLosses(std::move(problem), [](auto &option) { option.lost = {}; });
}

Problem withoutClasses(Problem problem) {
  return tellsClasses(problem) ? withLosses(std::move(problem), [](auto &) {}) : problem;
}

static double leastOf(const ByClass<double> &lost) { return std::ranges::min(lost.of); }

/// The one of two costs that is never above the other one; null, which is nothing, if none is.
static std::shared_ptr<const CollectiveCost>
leastOf(const ByClass<std::shared_ptr<const CollectiveCost>> &lost) {
  const auto &[one, other] = lost.of;
  if (!one || !other)
    return nullptr;
  bool isOneLeast = true, isOtherLeast = true;
  for (const CollectiveCost *cost : {one.get(), other.get()})
    for (std::size_t i = 0; i < cost->segments().size(); ++i)
      for (std::int64_t bytes : {cost->segments()[i].firstByte, lastOf(cost->segments(), i)}) {
        isOneLeast &= one->seconds(bytes) <= other->seconds(bytes);
        isOtherLeast &= other->seconds(bytes) <= one->seconds(bytes);
      }
  return isOneLeast ? one : isOtherLeast ? other : nullptr;
}

Problem withLeastLosses(Problem problem, bool orLost) {
  if (!tellsClasses(problem))
    return problem;
  return withLosses(std::move(problem), [&](auto &option) {
    const auto least = leastOf(option.lostBy);
    option.lost = orLost ? leastOf(decltype(option.lostBy){{least, option.lost}}) : least;
  });
}

Loss lossOf(const Problem &problem, const FactorOption &option) {
  return tellsClasses(problem) ? option.lostBy : Loss{{option.lost, option.lost}};
}

Loss lossOf(const Problem &problem, const SchemeOption &option, std::int64_t bytes) {
  if (tellsClasses(problem))
    return option.lostSecondsBy(bytes);
  return {{option.lostSeconds(bytes), option.lostSeconds(bytes)}};
}

Loss lossOf(const Problem &problem, const Message &message) {
  if (const FactorOption *factors = factorOptionOf(problem, message))
    return lossOf(problem, *factors);
  return lossOf(problem, problem.mergeClasses[message.mergeClass].options[message.option],
                message.bytes);
}

double mostLost(const Problem &problem, const Solution &solution) {
  double lost = 0;
  for (const Message &message : solution.messages)
    lost += std::ranges::max(lossOf(problem, message).of);
  return lost;
}

WorkSchedule::WorkSchedule(const Problem &problem) {
  if (problem.memoryBound)
    for (const WorkSpan &span : *problem.memoryBound) {
      borders.push_back(span.begin);
      borders.push_back(span.end);
    }
}

double WorkSchedule::lost(double computed, double seconds, const Loss &loss) const {
  if (loss.of[0] == loss.of[1])
    return loss.of[0];
  double done = 0;
  beside(computed, seconds, loss, [&](double, double work) { done += work; });
  return seconds - done;
}

void ComputationClock::add(double start, double end, double lost) {
  if (lost <= 0)
    return;
  const double before = this->lost();
  slowed.push_back({start, end, start - before, end - before - lost, before + lost});
}

void ComputationClock::add(double start, double end, const Loss &loss) {
  if (loss.of[0] == loss.of[1] || end <= start)
    return add(start, end, loss.of[0]);
  work.beside(start - lost(), end - start, loss, [&](double seconds, double done) {
    add(start, start + seconds, std::max(seconds - done, 0.0));
    start += seconds;
  });
}

double ComputationClock::at(double computed) const {
  // The first message that begins later than so much is done.
  const auto next = std::ranges::upper_bound(slowed, computed, {}, &Slowed::before);
  if (next == slowed.begin())
    return computed;
  const Slowed &last = *std::prev(next);
  if (computed >= last.after)
    return computed + last.lost;
  return last.start +
         (computed - last.before) / (last.after - last.before) * (last.end - last.start);
}

} // namespace syncline::problem
