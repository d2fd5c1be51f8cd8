// List scheduling of messages by the length of their tails.
#include "passes/solver/ListSchedule.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>

namespace syncline::solver {

namespace {

class ListScheduler {
public:
  ListScheduler(const Schedules &schedules, const MessageSize &size, std::span<const Turn> turns)
      : schedules(schedules), problem(schedules.orderProblem()), sync(problem.sync), size(size),
        turns(turns), layouts(schedules.classLayouts()), sent(sync.layers.size(), 0) {
    solution.choices = schedules.layerChoices();
    if (size.target > 0) {
      for (double lead : schedules.leads())
        latestStart.push_back(size.target - lead - size.reserve);
      leastStart = latestStart;
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
      if (needed.empty() && isLast && held.empty())
        break;
      if (needed.empty()) {
        now = std::max(now, nextRelease());
        continue;
      }
      now = send(needed.top().second, now);
    }
    solution.period = schedules.period(solution);
    return std::move(solution);
  }

private:
  /// Makes the layers available that are ready by now.
  void admit(double now) {
    for (; next < sync.layers.size() && sync.layers[next].ready <= now; ++next) {
      const auto turn = solution.choices[next].kind == Choice::Kind::factors
                            ? std::ranges::find(turns, next, &Turn::layer)
                            : turns.end();
      if (turn != turns.end())
        held.push_back(*turn);
      else if (solution.choices[next].kind != Choice::Kind::piggyback)
        needed.emplace(problem.tail[next], next);
    }
    std::erase_if(held, [&](const Turn &turn) {
      if (turn.notBefore <= now)
        needed.emplace(turn.tail, turn.layer);
      return turn.notBefore <= now;
    });
  }

  /// When another layer becomes available. Precondition: one will.
  double nextRelease() const {
    double release = next < sync.layers.size() ? sync.layers[next].ready
                                               : std::numeric_limits<double>::infinity();
    for (const Turn &turn : held)
      release = std::min(release, turn.notBefore);
    return release;
  }

  bool isDone(std::size_t k) const {
    return solution.choices[k].kind == Choice::Kind::factors ? sent[k] != 0
                                                             : sent[k] == sync.layers[k].bytes;
  }

  /// Sends layer k next; the time at which the channel is free again.
  double send(std::size_t k, double now) {
    OrderMessage message;
    message.start = now;
    const Choice choice = solution.choices[k];
    if (choice.kind == Choice::Kind::factors) {
      message.isFactors = true;
      message.index = k;
      message.option = choice.index;
      sent[k] = 1;
    } else {
      const MergeClass &mergeClass = sync.mergeClasses[choice.index];
      const ClassLayout &layout = layouts[choice.index];
      message.index = choice.index;
      message.begin = layout.begin[schedules.placeOf(k)] + sent[k];
      message.end = take(layout, schedules.placeOf(k), wantedAt(now, k, mergeClass), mergeClass);
      message.option = mergeClass.bestOption(message.bytes());
      const auto halvedOption = size.halves == Halves::none
                                    ? std::nullopt
                                    : bestHalvedOption(mergeClass, message.bytes());
      if (halvedOption) {
        message.option = *halvedOption;
        message.half = Half::first;
        halved.emplace(longestTail(layout, message), solution.messages.size());
      }
    }
    message.finish = now + secondsOf(sync, message);
    solution.messages.push_back(message);
    return message.finish;
  }

  double longestTail(const ClassLayout &layout, const OrderMessage &message) const {
    double tail = 0;
    for (std::size_t i : layout.carriedBy(message))
      tail = std::max(tail, problem.tail[layout.layers[i]]);
    return tail;
  }

  /// Sends the second half that is needed first; the time at which the channel is free again.
  double sendSecondHalf(double now) {
    OrderMessage message = solution.messages[halved.top().second];
    halved.pop();
    message.half = Half::second;
    message.start = now;
    message.finish = now + secondsOf(sync, message);
    solution.messages.push_back(message);
    return message.finish;
  }

  /// Bytes that a message which starts now with layer k should have.
  std::int64_t wantedAt(double now, std::size_t k, const MergeClass &mergeClass) const {
    const std::int64_t least = std::min(size.chunk, mergeClass.largestMessage);
    if (size.target == 0)
      return least;
    const double end = latestEnd(k);
    std::int64_t most = mergeClass.largestMessage;
    if (most == unlimited)
      most = std::max(least, layouts[solution.choices[k].index].bytes());
    std::int64_t fits = least, tooLong = most + 1;
    while (tooLong - fits > problem.grain) {
      const std::int64_t middle = fits + (tooLong - fits) / 2;
      (now + mergeClass.secondsOnClock(middle) > end ? tooLong : fits) = middle;
    }
    return fits;
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
      if (end + rest - begin > most && !problem.cutsGradients) {
        if (end > begin)
          break;
      } else if (end + rest - begin > most) {
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

  const Schedules &schedules;
  const OrderProblem &problem;
  const Problem &sync;
  MessageSize size;
  std::span<const Turn> turns;
  std::vector<Turn> held; ///< of layers that are ready
  const std::vector<ClassLayout> &layouts;
  /// The time at which a layer and all that become ready behind it must start to travel to meet the
  /// target; the least from a layer on.
  std::vector<double> latestStart, leastStart;
  OrderSolution solution;
  /// Bytes that have travelled of each layer, from its first one on; 1 for factors.
  std::vector<std::int64_t> sent;
  std::size_t next = 0; ///< the first layer that is not ready
  /// Layers that are ready, the longest tail first; of equals the last in backward order.
  std::priority_queue<std::pair<double, std::size_t>> needed;
  /// First halves whose second one has not travelled, by their longest tail; numbers of messages.
  std::priority_queue<std::pair<double, std::size_t>> halved;
};

} // namespace

/// See Schedules::leads().
static std::vector<double> leadsOf(const OrderProblem &problem, std::span<const Choice> choices) {
  const Problem &sync = problem.sync;
  std::vector<double> leads(sync.layers.size());
  std::int64_t bytes = 0;
  double factors = 0, least = std::numeric_limits<double>::infinity();
  for (std::size_t j = leads.size(); j-- > 0;) {
    if (choices[j].kind == Choice::Kind::bucket)
      bytes += sync.layers[j].bytes;
    if (choices[j].kind == Choice::Kind::factors)
      factors += sync.layers[j].factorOptions[choices[j].index].secondsOnClock();
    const double seconds = bytes > 0 ? sync.mergeClasses[0].secondsOnClock(bytes) : 0;
    least = std::min(least, problem.tail[j] + problem.updateOf(j));
    leads[j] = least + factors + seconds;
  }
  return leads;
}

Schedules::Schedules(const OrderProblem &problem, std::span<const Choice> choices)
    : problem(&problem), choices(choices.begin(), choices.end()),
      layouts(layoutsOf(problem.sync, choices)), place(problem.sync.layers.size(), 0),
      readers(readersOf(problem)), lead(leadsOf(problem, choices)) {
  for (const ClassLayout &layout : layouts)
    for (std::size_t i = 0; i < layout.layers.size(); ++i)
      place[layout.layers[i]] = i;
}

OrderSolution listSchedule(const Schedules &schedules, const MessageSize &size,
                           std::span<const Turn> turns) {
  return ListScheduler(schedules, size, turns).run();
}

namespace {

/// When a part of a layer's gradient arrives, and how large it is.
struct Arrival {
  std::size_t layer = 0;
  double at = 0;   ///< seconds
  double part = 1; ///< of the gradient's bytes
};

/// The arrivals of all layers' parts, in issue order.
std::vector<Arrival> arrivalsOf(const std::vector<ClassLayout> &layouts,
                                const OrderSolution &solution) {
  std::vector<Arrival> arrivals;
  arrivals.reserve(solution.choices.size() + 2 * solution.messages.size());
  for (const OrderMessage &message : solution.messages) {
    if (message.isFactors) {
      arrivals.push_back({message.index, message.finish});
      continue;
    }
    if (message.half == Half::first)
      continue; // the second half completes the bucket
    const ClassLayout &layout = layouts[message.index];
    for (std::size_t i : layout.carriedBy(message))
      if (const std::int64_t bytes = layout.begin[i + 1] - layout.begin[i]; bytes > 0)
        arrivals.push_back({layout.layers[i], message.finish,
                            static_cast<double>(std::min(message.end, layout.begin[i + 1]) -
                                                std::max(message.begin, layout.begin[i])) /
                                static_cast<double>(bytes)});
  }
  return arrivals;
}

/// The arrivals by layer, each layer's in issue order: layer k's are [begin[k], begin[k + 1]).
struct ByLayer {
  std::vector<Arrival> arrivals;
  std::vector<std::size_t> begin;

  ByLayer(const std::vector<Arrival> &inIssueOrder, std::size_t layers)
      : arrivals(inIssueOrder.size()), begin(layers + 1, 0) {
    for (const Arrival &arrival : inIssueOrder)
      ++begin[arrival.layer + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    for (const Arrival &arrival : inIssueOrder)
      arrivals[next[arrival.layer]++] = arrival;
  }
  std::span<const Arrival> of(std::size_t layer) const {
    return std::span(arrivals).subspan(begin[layer], begin[layer + 1] - begin[layer]);
  }
};

} // namespace

double Schedules::period(const OrderSolution &solution, std::optional<Wait> *last) const {
  const Problem &sync = problem->sync;
  const ByLayer arrivals(arrivalsOf(layouts, solution), sync.layers.size());
  double now = sync.computeFree, left = problem->forward;
  const auto awaitArrival = [&](std::size_t layer, double at) {
    if (last && at > now)
      *last = {layer, at};
    now = std::max(now, at);
  };
  for (std::size_t k : readers) {
    const Choice choice = choices[k];
    now += left - problem->tail[k] - problem->updateOf(k);
    left = problem->tail[k];
    if (choice.kind == Choice::Kind::piggyback) {
      awaitArrival(k, arrivals.of(*sync.layers[k].carrier).back().at);
      now += problem->updateOf(k);
      continue;
    }
    if (arrivals.of(k).empty())
      now += problem->updateOf(k);
    for (const Arrival &arrival : arrivals.of(k)) {
      awaitArrival(k, arrival.at);
      if (choice.kind == Choice::Kind::factors)
        now += sync.layers[k].factorOptions[choice.index].reconstruct;
      now += arrival.part * problem->updateOf(k);
    }
  }
  return now + left + lostSeconds(sync, solution);
}

void setTimes(const Schedules &schedules, OrderSolution &solution) {
  const Problem &sync = schedules.orderProblem().sync;
  double now = 0;
  for (OrderMessage &message : solution.messages) {
    std::size_t last = message.index;
    if (!message.isFactors) {
      // A layout begins with the layer that is ready last.
      const ClassLayout &layout = schedules.classLayouts()[message.index];
      last = layout.layers[layout.indexAt(message.begin)];
    }
    message.start = std::max(now, sync.layers[last].ready);
    message.finish = now = message.start + secondsOf(sync, message);
  }
  solution.period = schedules.period(solution);
}

double periodOf(const OrderProblem &problem, const OrderSolution &solution) {
  return Schedules(problem, solution.choices).period(solution);
}

} // namespace syncline::solver
