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
      if (!change(next.pieces))
        continue;
      keepHalvesInOrder(next.pieces);
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
  using Pieces = std::vector<Piece>;
  static constexpr double mostDearer = 0.01; ///< relative

  /// Less than `count`, which is at least 1. std::uniform_int_distribution differs between systems.
  std::size_t below(std::size_t count) { return random() % count; }
  /// From 0 to 1.
  double unit() { return static_cast<double>(random() >> 11) * 0x1p-53; }

  const ClassLayout &layoutOf(const Piece &piece) const {
    return schedules.classLayouts()[piece.index];
  }

  /// One random change; false where it is not possible.
  bool change(Pieces &pieces) {
    const std::size_t which = below(pieces.size());
    switch (below(6)) {
    case 0:
      return move(pieces, which, below(pieces.size()));
    case 1: {
      const std::size_t to = which + below(5);
      return to >= 2 && to - 2 < pieces.size() && move(pieces, which, to - 2);
    }
    case 2:
      return cut(pieces, which);
    case 3:
      return join(pieces, which);
    case 4:
      return shift(pieces, which);
    default:
      return pieces[which].half == Half::whole ? halve(pieces, which) : makeWhole(pieces, which);
    }
  }

  static bool move(Pieces &pieces, std::size_t from, std::size_t to) {
    const auto begin = pieces.begin();
    const auto at = [&](std::size_t i) { return begin + static_cast<std::ptrdiff_t>(i); };
    if (from < to)
      std::rotate(at(from), at(from + 1), at(to + 1));
    else
      std::rotate(at(to), at(from), at(from + 1));
    return from != to;
  }

  /// A place where the piece, or the bytes up to `end`, may be cut; `begin` where there is none.
  std::int64_t randomCut(const ClassLayout &layout, std::int64_t begin, std::int64_t end) {
    const std::size_t first = layout.indexAt(begin), last = layout.indexAt(end - 1);
    if (!problem.cutsGradients || below(2) == 0)
      return first == last ? begin : layout.begin[first + 1 + below(last - first)];
    const auto wanted =
        begin + static_cast<std::int64_t>(unit() * static_cast<double>(end - begin));
    const std::int64_t gradient = layout.begin[layout.indexAt(wanted)];
    return std::max(begin, wanted - (wanted - gradient) % problem.grain);
  }

  bool cut(Pieces &pieces, std::size_t which) {
    Piece one = pieces[which];
    if (one.isFactors || one.half != Half::whole)
      return false;
    const std::int64_t at = randomCut(layoutOf(one), one.begin, one.end);
    if (at == one.begin)
      return false;
    Piece other = one;
    pieces[which].end = other.begin = at;
    pieces.push_back(other);
    move(pieces, pieces.size() - 1, below(pieces.size()));
    return true;
  }

  /// The whole piece whose bytes follow those of a whole piece; the number of pieces if none.
  static std::size_t behind(const Pieces &pieces, std::size_t which) {
    const Piece &one = pieces[which];
    const auto next = std::ranges::find_if(pieces, [&](const Piece &other) {
      return !other.isFactors && other.half == Half::whole && other.index == one.index &&
             other.begin == one.end;
    });
    return one.isFactors || one.half != Half::whole
               ? pieces.size()
               : static_cast<std::size_t>(next - pieces.begin());
  }

  bool fits(std::size_t mergeClass, std::int64_t bytes) const {
    return bytes <= problem.sync.mergeClasses[mergeClass].largestMessage;
  }

  bool join(Pieces &pieces, std::size_t which) {
    const std::size_t next = behind(pieces, which);
    if (next == pieces.size() || !fits(pieces[which].index, pieces[next].end - pieces[which].begin))
      return false;
    const bool atFirst = below(2) == 0;
    pieces[next].begin = pieces[which].begin;
    pieces[which].end = pieces[next].end;
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(atFirst ? next : which));
    return true;
  }

  bool shift(Pieces &pieces, std::size_t which) {
    const std::size_t next = behind(pieces, which);
    if (next == pieces.size())
      return false;
    Piece &one = pieces[which], &other = pieces[next];
    const std::int64_t at = randomCut(layoutOf(one), one.begin, other.end);
    if (at == one.begin || !fits(one.index, at - one.begin) || !fits(one.index, other.end - at))
      return false;
    one.end = other.begin = at;
    return true;
  }

  bool halve(Pieces &pieces, std::size_t which) {
    Piece &one = pieces[which];
    if (!effort.inHalves || one.isFactors ||
        !bestHalvedOption(problem.sync.mergeClasses[one.index], one.bytes()))
      return false;
    one.half = Half::first;
    Piece second = one;
    second.half = Half::second;
    pieces.push_back(second);
    move(pieces, pieces.size() - 1, which + 1 + below(pieces.size() - 1 - which));
    return true;
  }

  static bool isOtherHalf(const Piece &one, const Piece &other) {
    return one.half != Half::whole && other.half != Half::whole && one.half != other.half &&
           one.index == other.index && one.begin == other.begin;
  }

  static bool makeWhole(Pieces &pieces, std::size_t which) {
    std::erase_if(pieces, [one = pieces[which]](const Piece &piece) {
      return isOtherHalf(one, piece) && piece.half == Half::second;
    });
    for (Piece &piece : pieces)
      if (piece.half != Half::whole && !std::ranges::any_of(pieces, [&](const Piece &other) {
            return isOtherHalf(piece, other);
          }))
        piece.half = Half::whole;
    return true;
  }

  static void keepHalvesInOrder(Pieces &pieces) {
    for (auto piece = pieces.begin(); piece != pieces.end(); ++piece)
      if (piece->half == Half::second)
        for (auto other = piece + 1; other != pieces.end(); ++other)
          if (isOtherHalf(*piece, *other))
            std::swap(piece->half, other->half);
  }

  void setTimes(OrderSolution &solution) const {
    const Problem &sync = problem.sync;
    double now = 0;
    for (Piece &piece : solution.pieces) {
      if (piece.isFactors) {
        now = std::max(now, sync.layers[piece.index].ready);
      } else {
        // A layout begins with the layer that is ready last.
        const MergeClass &mergeClass = sync.mergeClasses[piece.index];
        const ClassLayout &layout = layoutOf(piece);
        now = std::max(now, sync.layers[layout.layers[layout.indexAt(piece.begin)]].ready);
        piece.option = piece.half == Half::whole ? mergeClass.bestOption(piece.bytes())
                                                 : *bestHalvedOption(mergeClass, piece.bytes());
      }
      piece.start = now;
      piece.finish = now += secondsOf(sync, piece);
    }
    solution.period = schedules.period(solution);
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
  if (start.pieces.empty())
    return start;
  return LocalSearch(schedules, std::move(start), effort).run();
}

} // namespace syncline::solver
