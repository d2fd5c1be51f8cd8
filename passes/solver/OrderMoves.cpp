// Threshold accepting (Dueck and Scheuer, 1990) on the list of messages.
#include "passes/solver/OrderMoves.h"

#include <algorithm>
#include <random>

namespace syncline::solver {

namespace {

class LocalSearch {
public:
  LocalSearch(const Schedules &schedules, OrderSolution start, const SearchEffort &effort)
      : schedules(schedules), problem(schedules.orderProblem()), effort(effort),
        random(effort.seed), current(std::move(start)) {}

  OrderSolution run() {
    OrderSolution best = current;
    for (std::size_t i = 0; i < effort.trials; ++i) {
      OrderSolution next = current;
      if (!change(next.messages))
        continue;
      keepHalvesInOrder(next.messages);
      setTimes(next);
      const double left = 1 - static_cast<double>(i) / static_cast<double>(effort.trials);
      if (priceOf(next) > priceOf(current) * (1 + mostDearer * left * left * left * unit()))
        continue;
      current = std::move(next);
      if (priceOf(current) < priceOf(best))
        best = current;
    }
    return best;
  }

private:
  using Messages = std::vector<OrderMessage>;
  static constexpr double mostDearer = 0.01; ///< relative

  /// Less than `count`, which is at least 1. std::uniform_int_distribution differs between systems.
  std::size_t below(std::size_t count) { return random() % count; }
  /// From 0 to 1.
  double unit() { return static_cast<double>(random() >> 11) * 0x1p-53; }

  const ClassLayout &layoutOf(const OrderMessage &message) const {
    return schedules.classLayouts()[message.index];
  }

  /// One random change; false where it is not possible.
  bool change(Messages &messages) {
    const std::size_t which = below(messages.size());
    switch (below(6)) {
    case 0:
      return move(messages, which, below(messages.size()));
    case 1: {
      const std::size_t to = which + below(5);
      return to >= 2 && to - 2 < messages.size() && move(messages, which, to - 2);
    }
    case 2:
      return cut(messages, which);
    case 3:
      return join(messages, which);
    case 4:
      return shift(messages, which);
    default:
      return messages[which].half == Half::whole ? halve(messages, which)
                                                 : makeWhole(messages, which);
    }
  }

  static bool move(Messages &messages, std::size_t from, std::size_t to) {
    const auto begin = messages.begin();
    const auto at = [&](std::size_t i) { return begin + static_cast<std::ptrdiff_t>(i); };
    if (from < to)
      std::rotate(at(from), at(from + 1), at(to + 1));
    else
      std::rotate(at(to), at(from), at(from + 1));
    return from != to;
  }

  /// A place where the message, or the bytes up to `end`, may be cut; `begin` where there is none.
  std::int64_t randomCut(const ClassLayout &layout, std::int64_t begin, std::int64_t end) {
    const std::size_t first = layout.indexAt(begin), last = layout.indexAt(end - 1);
    if (!problem.cutsGradients || below(2) == 0)
      return first == last ? begin : layout.begin[first + 1 + below(last - first)];
    const auto wanted =
        begin + static_cast<std::int64_t>(unit() * static_cast<double>(end - begin));
    const std::int64_t gradient = layout.begin[layout.indexAt(wanted)];
    return std::max(begin, wanted - (wanted - gradient) % problem.grain);
  }

  bool cut(Messages &messages, std::size_t which) {
    OrderMessage one = messages[which];
    if (one.isFactors || one.half != Half::whole)
      return false;
    const std::int64_t at = randomCut(layoutOf(one), one.begin, one.end);
    if (at == one.begin)
      return false;
    OrderMessage other = one;
    messages[which].end = other.begin = at;
    messages.push_back(other);
    move(messages, messages.size() - 1, below(messages.size()));
    return true;
  }

  /// The whole message whose bytes follow those of a whole message; the number of messages if none.
  static std::size_t behind(const Messages &messages, std::size_t which) {
    const OrderMessage &one = messages[which];
    const auto next = std::ranges::find_if(messages, [&](const OrderMessage &other) {
      return !other.isFactors && other.half == Half::whole && other.index == one.index &&
             other.begin == one.end;
    });
    return one.isFactors || one.half != Half::whole
               ? messages.size()
               : static_cast<std::size_t>(next - messages.begin());
  }

  bool fits(std::size_t mergeClass, std::int64_t bytes) const {
    return bytes <= problem.sync.mergeClasses[mergeClass].largestMessage;
  }

  bool join(Messages &messages, std::size_t which) {
    const std::size_t next = behind(messages, which);
    if (next == messages.size() ||
        !fits(messages[which].index, messages[next].end - messages[which].begin))
      return false;
    const bool atFirst = below(2) == 0;
    messages[next].begin = messages[which].begin;
    messages[which].end = messages[next].end;
    messages.erase(messages.begin() + static_cast<std::ptrdiff_t>(atFirst ? next : which));
    return true;
  }

  bool shift(Messages &messages, std::size_t which) {
    const std::size_t next = behind(messages, which);
    if (next == messages.size())
      return false;
    OrderMessage &one = messages[which], &other = messages[next];
    const std::int64_t at = randomCut(layoutOf(one), one.begin, other.end);
    if (at == one.begin || !fits(one.index, at - one.begin) || !fits(one.index, other.end - at))
      return false;
    one.end = other.begin = at;
    return true;
  }

  bool halve(Messages &messages, std::size_t which) {
    OrderMessage &one = messages[which];
    if (!effort.inHalves || one.isFactors ||
        !bestHalvedOption(problem.sync.mergeClasses[one.index], one.bytes()))
      return false;
    one.half = Half::first;
    OrderMessage second = one;
    second.half = Half::second;
    messages.push_back(second);
    move(messages, messages.size() - 1, which + 1 + below(messages.size() - 1 - which));
    return true;
  }

  static bool isOtherHalf(const OrderMessage &one, const OrderMessage &other) {
    return one.half != Half::whole && other.half != Half::whole && one.half != other.half &&
           one.index == other.index && one.begin == other.begin;
  }

  static bool makeWhole(Messages &messages, std::size_t which) {
    std::erase_if(messages, [one = messages[which]](const OrderMessage &message) {
      return isOtherHalf(one, message) && message.half == Half::second;
    });
    for (OrderMessage &message : messages)
      if (message.half != Half::whole &&
          !std::ranges::any_of(
              messages, [&](const OrderMessage &other) { return isOtherHalf(message, other); }))
        message.half = Half::whole;
    return true;
  }

  static void keepHalvesInOrder(Messages &messages) {
    for (auto message = messages.begin(); message != messages.end(); ++message)
      if (message->half == Half::second)
        for (auto other = message + 1; other != messages.end(); ++other)
          if (isOtherHalf(*message, *other))
            std::swap(message->half, other->half);
  }

  void setTimes(OrderSolution &solution) const {
    for (OrderMessage &message : solution.messages)
      if (!message.isFactors) {
        const MergeClass &mergeClass = problem.sync.mergeClasses[message.index];
        message.option = message.half == Half::whole
                             ? mergeClass.bestOption(message.bytes())
                             : *bestHalvedOption(mergeClass, message.bytes());
      }
    solver::setTimes(schedules, solution);
  }

  const Schedules &schedules;
  const OrderProblem &problem;
  SearchEffort effort;
  std::mt19937_64 random;
  OrderSolution current;
};

} // namespace

OrderSolution searchAround(const Schedules &schedules, OrderSolution start,
                           const SearchEffort &effort) {
  if (start.messages.empty())
    return start;
  return LocalSearch(schedules, std::move(start), effort).run();
}

} // namespace syncline::solver
