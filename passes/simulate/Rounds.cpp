// The senders and receivers of each scheme.
#include "passes/simulate/Rounds.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace syncline::simulate {

void ringRounds(const std::vector<int> &ranks, double share, bool adds, const RoundVisitor &visit) {
  const std::size_t count = ranks.size();
  Round round{{}, adds};
  for (std::size_t i = 0; i < count; ++i)
    round.transfers.push_back(
        {ranks[i], ranks[(i + 1) % count], share / static_cast<double>(count)});
  for (std::size_t i = 1; i < count; ++i)
    visit(round);
}

void exchangeRounds(int ranks, bool adds, const RoundVisitor &visit) {
  for (int distance = 1; distance < ranks; ++distance) {
    Round round{{}, adds};
    for (int rank = 0; rank < ranks; ++rank)
      round.transfers.push_back({rank, (rank + distance) % ranks, 1.0 / ranks});
    visit(round);
  }
}

namespace {

/// A group of ranks split in two halves. The lower half has as many ranks as the upper or one more;
/// then its last rank is the guest of the upper half's first.
struct Group {
  int first, middle, last;
  int upper() const { return last - middle; }
  bool hasGuest() const { return middle - first > last - middle; }
};

/// The groups of every level, from all ranks to pairs.
std::vector<std::vector<Group>> levelsOf(int ranks) {
  std::vector<std::vector<Group>> levels;
  std::vector<std::pair<int, int>> ranges{{0, ranks}};
  while (!ranges.empty()) {
    std::vector<Group> level;
    std::vector<std::pair<int, int>> halves;
    for (auto [first, last] : ranges) {
      if (last - first < 2)
        continue;
      const int middle = first + (last - first + 1) / 2;
      level.push_back({first, middle, last});
      halves.insert(halves.end(), {{first, middle}, {middle, last}});
    }
    if (!level.empty())
      levels.push_back(std::move(level));
    ranges = std::move(halves);
  }
  return levels;
}

/// Recursive doubling, from pairs to all ranks, as the runtime halves any number of ranks.
void doublingRounds(int ranks, const RoundVisitor &visit) {
  const std::vector<std::vector<Group>> levels = levelsOf(ranks);
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    Round round{{}, true};
    for (const Group &group : *level) {
      for (int i = 0; i < group.upper(); ++i) {
        round.transfers.push_back({group.first + i, group.middle + i, 1});
        round.transfers.push_back({group.middle + i, group.first + i, 1});
      }
      if (group.hasGuest())
        round.transfers.push_back({group.middle, group.middle - 1, 1});
    }
    visit(round);
  }
}

/// Recursive halving, which sums, then doubling, which spreads the sums.
void halvingDoublingRounds(int ranks, const RoundVisitor &visit) {
  const std::vector<std::vector<Group>> levels = levelsOf(ranks);
  const double block = 1.0 / ranks;
  // Summing, each half's ranks receive their own half's blocks; spreading runs the other way.
  auto round = [&](const std::vector<Group> &level, bool adds) {
    Round result{{}, adds};
    auto send = [&](int summer, int giver, int blocks) {
      result.transfers.push_back(adds ? Transfer{giver, summer, blocks * block}
                                      : Transfer{summer, giver, blocks * block});
    };
    for (const Group &group : level) {
      const int lower = group.middle - group.first, upper = group.upper();
      for (int i = 0; i < upper; ++i) {
        send(group.first + i, group.middle + i, lower);
        send(group.middle + i, group.first + i, upper);
      }
      if (group.hasGuest())
        send(group.middle, group.middle - 1, upper);
    }
    visit(result);
  };
  for (const auto &level : levels)
    round(level, true);
  for (auto level = levels.rbegin(); level != levels.rend(); ++level)
    round(*level, false);
}

using OneVisitor = std::function<void(double share, bool adds)>;

std::vector<int> everyRank(int ranks) {
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void wholeRing(int ranks, const RoundVisitor &visit) {
  for (bool adds : {true, false})
    ringRounds(everyRank(ranks), 1, adds, visit);
}

void gatherRing(int ranks, const RoundVisitor &visit) {
  ringRounds(everyRank(ranks), ranks, false, visit);
}

void oneOfRing(int ranks, const OneVisitor &visit) {
  for (bool adds : {true, false})
    for (int i = 1; i < ranks; ++i)
      visit(1.0 / ranks, adds);
}

void oneOfGather(int ranks, const OneVisitor &visit) {
  for (int i = 1; i < ranks; ++i)
    visit(1, false);
}

void oneOfDoubling(int ranks, const OneVisitor &visit) {
  for (int groups = 1; groups < ranks; groups *= 2)
    visit(1, true);
}

void oneOfHalvingDoubling(int ranks, const OneVisitor &visit) {
  for (int groups = 2; groups <= ranks; groups *= 2)
    visit(1.0 / groups, true);
  for (int groups = ranks; groups > 1; groups /= 2)
    visit(1.0 / groups, false);
}

double levels(double ranks) { return std::ceil(std::log2(ranks)); }
double twoLevels(double ranks) { return 2 * levels(ranks); }
double rings(double ranks) { return 2 * ranks; }
double oneRing(double ranks) { return ranks; }

constexpr SchemeRounds rows[] = {
    {Scheme::ring, rings, 2, false, wholeRing, oneOfRing},
    {Scheme::reduceScatter, rings, 2, false, wholeRing, oneOfRing},
    {Scheme::factors, oneRing, 2, false, gatherRing, oneOfGather}, // and each gathered scheme
    {Scheme::recursiveDoubling, levels, 3, true, doublingRounds, oneOfDoubling},
    {Scheme::halvingDoubling, twoLevels, 3, true, halvingDoublingRounds, oneOfHalvingDoubling},
};

} // namespace

const SchemeRounds *roundsOf(Scheme scheme) {
  const auto *row = std::ranges::find(rows, pricedAs(scheme), &SchemeRounds::scheme);
  return row == std::end(rows) ? nullptr : row;
}

} // namespace syncline::simulate
