// The schemes' formulas, one row each.
#include "passes/problem/TreeCost.h"

#include <algorithm>
#include <iterator>

namespace syncline::problem {

namespace {

/// The rounds of recursive doubling and halving-doubling, which halve the ranks again and again. In
/// a group of odd size one rank, the host, serves two ranks of the other half and so sends twice.
struct Halvings {
  double levels = 0; ///< ceil(log2 P)
  double sends = 0;  ///< messages that the busiest rank sends: a level with a host counts twice
  double share = 0;  ///< part of the message that the busiest rank receives, in halving-doubling
};

Halvings halvingsOf(std::int64_t ranks) { // 64 bits: the number of groups may exceed an int
  Halvings sum;
  for (std::int64_t groups = 1; groups < ranks; groups *= 2) {
    std::int64_t sends = 1, blocks = 0;
    for (std::int64_t size : {ranks / groups, (ranks + groups - 1) / groups}) {
      bool hasHost = size > 1 && size % 2 == 1;
      sends = std::max<std::int64_t>(sends, hasHost ? 2 : 1);
      blocks = std::max(blocks, hasHost ? size - 1 : size / 2);
    }
    sum.levels += 1;
    sum.sends += static_cast<double>(sends);
    sum.share += static_cast<double>(blocks) / static_cast<double>(ranks);
  }
  return sum;
}

/// Bytes that a rank moves at one level, both directions. A regular rank has one partner. In an odd
/// group the host serves two ranks; the guest is the second of these.
struct LevelLoad {
  double regular = 0, host = 0, guest = 0;
};

/// The maximum bytes that ranks of a group move at this level and all below: the first rank, the
/// last rank, and the busiest between them. The host is the upper half's first rank, the guest the
/// lower half's last.
struct GroupLoad {
  double first = 0, last = 0, inner = 0; ///< bytes; a lone rank is first and last

  double most() const { return std::max({first, last, inner}); }
};

template <typename LoadOf> GroupLoad loadOf(std::int64_t size, const LoadOf &level) {
  if (size == 1)
    return {};
  const std::int64_t lower = size - size / 2, upper = size / 2;
  const bool isOdd = lower > upper;
  // Halves of different sizes differ by one, so one of them is even and has equal halves itself.
  const GroupLoad low = loadOf(lower, level), high = isOdd ? loadOf(upper, level) : low;
  const LevelLoad own = level(size);
  GroupLoad load;
  load.first = low.first + own.regular;
  load.last = high.last + (isOdd && upper == 1 ? own.host : own.regular);
  if (lower > 2)
    load.inner = low.inner + own.regular;
  if (upper > 2)
    load.inner = std::max(load.inner, high.inner + own.regular);
  if (lower > 1)
    load.inner = std::max(load.inner, low.last + (isOdd ? own.guest : own.regular));
  if (upper > 1)
    load.inner = std::max(load.inner, high.first + (isOdd ? own.host : own.regular));
  return load;
}

/// Traffic of recursive doubling: at each level a rank exchanges whole messages with its partner.
double doublingTraffic(int ranks, std::int64_t) {
  return loadOf(ranks, [](std::int64_t) { return LevelLoad{2, 3, 1}; }).most();
}

/// Traffic of halving-doubling: at each level a rank receives its own half's blocks and sends the
/// other half's; the gather then moves as many back.
double halvingDoublingTraffic(int ranks, std::int64_t) {
  const double block = 2 / static_cast<double>(ranks);
  return loadOf(ranks,
                [&](std::int64_t size) {
                  const auto all = static_cast<double>(size), upper = static_cast<double>(size / 2);
                  return LevelLoad{block * all, block * (all + upper), block * upper};
                })
      .most();
}

AffineCost ringLine(int ranks, const LinkRates &of) {
  const double p = ranks;
  return {2 * (p - 1) * of.latency,
          (p - 1) / p * (2 * of.secondsPerByte + of.reduceSecondsPerByte)};
}

AffineCost doublingLine(int ranks, const LinkRates &of) {
  const Halvings halvings = halvingsOf(ranks);
  return {halvings.sends * of.latency,
          halvings.sends * of.secondsPerByte + halvings.levels * of.reduceSecondsPerByte};
}

AffineCost halvingDoublingLine(int ranks, const LinkRates &of) {
  const Halvings halvings = halvingsOf(ranks);
  return {(halvings.levels + halvings.sends) * of.latency,
          halvings.share * (2 * of.secondsPerByte + of.reduceSecondsPerByte)};
}

double ringBytes(int ranks, std::int64_t) {
  const double p = ranks;
  return 4 * (p - 1) / p;
}

/// Around a ring one message at a time leaves a node.
double oneSharer(int, int) { return 1; }

/// In the doubling schemes all ranks of a node have partners on other nodes at once.
double allSharers(int, int devices) { return devices; }

/// Trees over nodes of several devices have more edges between nodes than those over single ranks.
double treeSharers(int ranks, int devices) {
  const int nodes = (ranks + devices - 1) / devices;
  return devices > 1 ? std::max(1.0, treeCardLoad(nodes, devices) / 2) : 1;
}

/// The formula of one scheme, for two ranks or more.
struct Row {
  Scheme scheme;
  AffineCost (*line)(int ranks, const LinkRates &); ///< null for the tree, whose cost is no line
  double (*traffic)(int ranks, std::int64_t bytes); ///< formulaTraffic()
  double (*sharers)(int ranks, int devices);        ///< formulaSharers()
};

constexpr Row rows[] = {
    {Scheme::ring, ringLine, ringBytes, oneSharer},
    {Scheme::recursiveDoubling, doublingLine, doublingTraffic, allSharers},
    {Scheme::halvingDoubling, halvingDoublingLine, halvingDoublingTraffic, allSharers},
    {Scheme::tree, nullptr, treeTraffic, treeSharers},
    // The ring's two halves, the update between them.
    {Scheme::reduceScatter, ringLine, ringBytes, oneSharer},
};
static_assert(std::ranges::equal(rows, schemesWhere<hasFormula>, {}, &Row::scheme),
              "expected a row for each scheme with a formula, in the order of Schemes.inc");

const Row *rowOf(Scheme scheme) {
  const Row *row = std::ranges::find(rows, scheme, &Row::scheme);
  return row == std::end(rows) ? nullptr : row;
}

std::vector<CostSegment> piecesOf(Scheme scheme, int ranks, const LinkRates &rates) {
  auto copy = [](std::span<const CostSegment> pieces) {
    return std::vector<CostSegment>(pieces.begin(), pieces.end());
  };
  if (scheme == Scheme::tree)
    return copy(treeCost(ranks, rates)->segments());
  return copy(formulaLine(scheme, ranks, rates).segments());
}

} // namespace

FormulaCost::FormulaCost(Scheme scheme, int ranks, const LinkRates &rates)
    : PiecewiseCost(piecesOf(scheme, ranks, rates)), algorithm(scheme), count(ranks), link(rates) {}

std::shared_ptr<const CollectiveCost> formulaCost(Scheme scheme, int ranks,
                                                  const LinkRates &rates) {
  return std::make_shared<FormulaCost>(scheme, ranks, rates);
}

AffineCost formulaLine(Scheme scheme, int ranks, const LinkRates &rates) {
  const Row *row = rowOf(scheme);
  return row && row->line && ranks > 1 ? row->line(ranks, rates) : AffineCost(0, 0);
}

double formulaTraffic(Scheme scheme, int ranks, std::int64_t bytes) {
  const Row *row = rowOf(scheme);
  return row && ranks > 1 ? row->traffic(ranks, bytes) : 0;
}

double formulaSharers(Scheme scheme, int ranks, int devices) {
  return rowOf(scheme)->sharers(ranks, devices);
}

} // namespace syncline::problem
