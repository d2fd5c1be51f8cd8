// List scheduling of pieces by the length of their tails.
#include "passes/solver/ListSchedule.h"

#include <algorithm>
#include <limits>
#include <queue>

namespace syncline::solver {

namespace {

class ListScheduler {
public:
  ListScheduler(const OrderProblem &problem, std::span<const Way> ways, const MessageSize &size)
      : problem(problem), sync(problem.sync), size(size), sent(sync.layers.size(), 0),
        indexInLayout(sync.layers.size(), 0) {
    solution.ways.assign(ways.begin(), ways.end());
    for (std::size_t l = 0; l < sync.mergeClasses.size(); ++l) {
      layouts.emplace_back(sync, ways, l);
      for (std::size_t i = 0; i < layouts[l].layers.size(); ++i)
        indexInLayout[layouts[l].layers[i]] = i;
    }
    if (size.target > 0) {
      latestStart = leastStart = latestStarts();
      for (std::size_t j = leastStart.size(); j-- > 1;)
        leastStart[j - 1] = std::min(leastStart[j - 1], leastStart[j]);
    }
  }

  OrderSolution run() {
    double now = 0;
    for (;;) {
      admit(now);
      while (!needed.empty() && isDone(needed.top().second))
        needed.pop();
      const bool isLast = next == sync.layers.size();
      if (needed.empty() && !halved.empty() && (isLast || size.halves == Halves::between)) {
        now = sendSecondHalf(now);
        continue;
      }
      if (needed.empty() && isLast)
        break;
      if (needed.empty()) {
        now = std::max(now, sync.layers[next].ready);
        continue;
      }
      if (mustWait(needed.top().second, now))
        now = sync.layers[next].ready;
      else
        now = send(needed.top().second, now);
    }
    solution.period = periodOf(problem, solution);
    return std::move(solution);
  }

private:
  /// Makes the layers available that are ready by now.
  void admit(double now) {
    for (; next < sync.layers.size() && sync.layers[next].ready <= now; ++next)
      if (solution.ways[next].kind != Way::Kind::piggyback)
        needed.emplace(problem.tail[next], next);
  }

  bool isDone(std::size_t k) const {
    return solution.ways[k].kind == Way::Kind::factors ? sent[k] != 0
                                                       : sent[k] == sync.layers[k].bytes;
  }

  /// Sends layer k next; the time at which the channel is free again.
  double send(std::size_t k, double now) {
    Piece piece;
    piece.start = now;
    const Way way = solution.ways[k];
    if (way.kind == Way::Kind::factors) {
      piece.isFactors = true;
      piece.index = k;
      piece.option = way.index;
      sent[k] = 1;
    } else {
      const MergeClass &mergeClass = sync.mergeClasses[way.index];
      const ClassLayout &layout = layouts[way.index];
      piece.index = way.index;
      piece.begin = layout.begin[indexInLayout[k]] + sent[k];
      piece.end = take(layout, indexInLayout[k], wantedAt(now, k, mergeClass), mergeClass);
      piece.option = mergeClass.bestOption(piece.bytes());
      if (size.halves != Halves::none && hasHalves(mergeClass.options[piece.option].scheme)) {
        piece.half = Half::first;
        halved.emplace(longestTail(layout, piece), solution.pieces.size());
      }
    }
    piece.finish = now + secondsOf(sync, piece);
    solution.pieces.push_back(piece);
    return piece.finish;
  }

  double longestTail(const ClassLayout &layout, const Piece &piece) const {
    double tail = 0;
    for (std::size_t i = layout.indexAt(piece.begin);
         i < layout.layers.size() && layout.begin[i] < piece.end; ++i)
      tail = std::max(tail, problem.tail[layout.layers[i]]);
    return tail;
  }

  /// Sends the second half that is needed first; the time at which the channel is free again.
  double sendSecondHalf(double now) {
    Piece piece = solution.pieces[halved.top().second];
    halved.pop();
    piece.half = Half::second;
    piece.start = now;
    piece.finish = now + secondsOf(sync, piece);
    solution.pieces.push_back(piece);
    return piece.finish;
  }

  /// Bytes that a message which starts now with layer k should have.
  std::int64_t wantedAt(double now, std::size_t k, const MergeClass &mergeClass) const {
    const std::int64_t least = std::min(size.chunk, mergeClass.largestMessage);
    if (size.target == 0)
      return least;
    const double end = latestEnd(k);
    std::int64_t most = mergeClass.largestMessage;
    if (most == unlimited)
      most = std::max(least, layouts[solution.ways[k].index].bytes());
    std::int64_t fits = least, tooLong = most + 1;
    while (tooLong - fits > problem.grain) {
      const std::int64_t middle = fits + (tooLong - fits) / 2;
      (now + mergeClass.seconds(middle) > end ? tooLong : fits) = middle;
    }
    return fits;
  }

  /// Whether even the smallest message would keep the channel from what is needed sooner.
  bool mustWait(std::size_t k, double now) const {
    if (!size.waits || next == sync.layers.size())
      return false;
    const Way way = solution.ways[k];
    const double seconds = way.kind == Way::Kind::factors
                               ? sync.layers[k].factorOptions[way.index].seconds
                               : sync.mergeClasses[way.index].seconds(
                                     std::min(size.chunk, sync.layers[k].bytes - sent[k]));
    return now + seconds > latestEnd(k) && now + seconds > sync.layers[next].ready;
  }

  /// When a message with layer k must end to meet the target: before the layer's reader, and early
  /// enough for what becomes ready meanwhile and is needed sooner.
  double latestEnd(std::size_t k) const {
    double end = size.target - problem.tail[k] - problem.updateOf(k);
    for (std::size_t j = next;
         j < sync.layers.size() && sync.layers[j].ready < end && leastStart[j] < end; ++j)
      end = std::max(sync.layers[j].ready, std::min(end, latestStart[j]));
    return end;
  }

  /// For each layer the time at which it and all that become ready behind it must start to travel,
  /// in one message, to meet the target. Buckets are taken to cost what the first class's do.
  std::vector<double> latestStarts() const {
    std::vector<double> starts(sync.layers.size());
    std::int64_t bytes = 0;
    double factors = 0, least = std::numeric_limits<double>::infinity();
    for (std::size_t j = starts.size(); j-- > 0;) {
      const Way way = solution.ways[j];
      if (way.kind == Way::Kind::bucket)
        bytes += sync.layers[j].bytes;
      if (way.kind == Way::Kind::factors)
        factors += sync.layers[j].factorOptions[way.index].seconds;
      const double seconds = bytes > 0 ? sync.mergeClasses[0].seconds(bytes) : 0;
      least = std::min(least, problem.tail[j] + problem.updateOf(j));
      starts[j] = size.target - least - factors - seconds - size.reserve;
    }
    return starts;
  }

  /// Takes bytes from layer i of the layout on; the offset behind the last one.
  std::int64_t take(const ClassLayout &layout, std::size_t i, std::int64_t wanted,
                    const MergeClass &mergeClass) {
    const std::int64_t begin = layout.begin[i] + sent[layout.layers[i]];
    const std::int64_t largest = mergeClass.largestMessage;
    const std::int64_t most =
        std::min(largest, wanted > largest - wanted / 4 ? largest : wanted + wanted / 4);
    std::int64_t end = begin;
    for (; i < layout.layers.size() && end - begin < wanted; ++i) {
      const std::size_t k = layout.layers[i];
      if (k >= next || (end > begin && sent[k] > 0))
        break;
      const std::int64_t rest = sync.layers[k].bytes - sent[k];
      std::int64_t part = rest;
      if (end + rest - begin > most) {
        // The cut lies on the grain; a message takes at least one grain.
        part = begin + wanted - end;
        part -= (sent[k] + part) % problem.grain;
        if (part <= 0 && end > begin)
          break;
        part = std::min(rest, std::max(part, problem.grain));
      }
      sent[k] += part;
      end += part;
      if (part < rest)
        break;
    }
    return end;
  }

  const OrderProblem &problem;
  const Problem &sync;
  MessageSize size;
  std::vector<double> latestStart, leastStart; ///< see latestStarts(); the least from a layer on
  OrderSolution solution;
  std::vector<ClassLayout> layouts;
  /// Bytes that have travelled of each layer, from its first one on; 1 for factors.
  std::vector<std::int64_t> sent;
  std::vector<std::size_t> indexInLayout;
  std::size_t next = 0; ///< the first layer that is not ready
  /// Layers that are ready, the longest tail first; of equals the last in backward order.
  std::priority_queue<std::pair<double, std::size_t>> needed;
  /// First halves whose second one has not travelled, by their longest tail; numbers of pieces.
  std::priority_queue<std::pair<double, std::size_t>> halved;
};

} // namespace

OrderSolution listSchedule(const OrderProblem &problem, std::span<const Way> ways,
                           const MessageSize &size) {
  return ListScheduler(problem, ways, size).run();
}

namespace {

/// When a part of a layer's gradient arrives, and how large it is.
struct Arrival {
  double at = 0;   ///< seconds
  double part = 1; ///< of the gradient's bytes
};

/// The arrivals of each layer's parts, in issue order; none for a layer without a message.
std::vector<std::vector<Arrival>> arrivalsOf(const Problem &sync, const OrderSolution &solution) {
  std::vector<std::vector<Arrival>> arrivals(sync.layers.size());
  std::vector<ClassLayout> layouts;
  for (std::size_t l = 0; l < sync.mergeClasses.size(); ++l)
    layouts.emplace_back(sync, solution.ways, l);
  for (const Piece &piece : solution.pieces) {
    if (piece.isFactors) {
      arrivals[piece.index].push_back({piece.finish});
      continue;
    }
    if (piece.half == Half::first)
      continue; // the second half brings the parameters
    const ClassLayout &layout = layouts[piece.index];
    for (std::size_t i = layout.indexAt(piece.begin);
         i < layout.layers.size() && layout.begin[i] < piece.end; ++i)
      if (const std::int64_t bytes = layout.begin[i + 1] - layout.begin[i]; bytes > 0)
        arrivals[layout.layers[i]].push_back(
            {piece.finish, static_cast<double>(std::min(piece.end, layout.begin[i + 1]) -
                                               std::max(piece.begin, layout.begin[i])) /
                               static_cast<double>(bytes)});
  }
  return arrivals;
}

} // namespace

double periodOf(const OrderProblem &problem, const OrderSolution &solution) {
  const Problem &sync = problem.sync;
  const std::vector<std::vector<Arrival>> arrivals = arrivalsOf(sync, solution);
  double now = sync.computeFree, left = problem.forward;
  for (std::size_t k : readersOf(problem)) {
    const Way way = solution.ways[k];
    now += left - problem.tail[k] - problem.updateOf(k);
    left = problem.tail[k];
    if (way.kind == Way::Kind::piggyback) {
      now = std::max(now, arrivals[*sync.layers[k].carrier].back().at) + problem.updateOf(k);
      continue;
    }
    if (arrivals[k].empty())
      now += problem.updateOf(k);
    for (const Arrival &arrival : arrivals[k]) {
      now = std::max(now, arrival.at);
      if (way.kind == Way::Kind::factors)
        now += sync.layers[k].factorOptions[way.index].reconstruct;
      now += arrival.part * problem.updateOf(k);
    }
  }
  return now + left;
}

} // namespace syncline::solver
