// NCCL's latencies and rates by algorithm and protocol, and their minimum.
#include "passes/problem/NcclCost.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace syncline::problem {

namespace {

/// A protocol: seconds of a call that no link adds, and how many times as long a message of a tree
/// takes as one of a ring, inside nodes and between them. These are the ratios and the base
/// latencies of NCCL's src/graph/tuning.cc.
struct Constants {
  NcclProtocol NcclLink::*protocol;
  double ringBase, treeBase, treeInside, treeBetween;
};
constexpr Constants protocols[] = {
    {&NcclLink::ll, 6.6e-6, 6.8e-6, 1, 5.0 / 2.7},
    {&NcclLink::ll128, 14e-6, 14e-6, 1.25 / 1.9, 8.5 / 4},
    {&NcclLink::simple, 8.4e-6, 8.4e-6, 4 / 3.4, 1},
};

/// The part of a ring's rate that a tree's chain inside a node reaches.
constexpr double chainShare = 0.85;

int levelsOf(int nodes) { return std::bit_width(static_cast<unsigned>(nodes - 1)); }

/// How often a byte of a tree leaves a node: of two nodes each is the root of one of two trees.
double passes(int nodes) { return nodes > 2 ? 2 : 1; }

double ranksOf(const NcclLayout &layout) {
  return static_cast<double>(layout.nodes) * layout.devices;
}

/// What goes around a ring: calls of NCCL, ways around, and the bytes that pass a link by those of
/// the message.
struct RingUse {
  double calls = 1, ways = 2, bytes = 0;
};

/// An all-reduce or, by two calls, its halves.
RingUse sumUse(double ranks, double calls) { return {calls, 2, 2 * (ranks - 1) / ranks}; }

AffineCost ringLine(const Constants &of, const NcclLayout &layout, const RingUse &use) {
  const NcclProtocol &in = layout.inside.*of.protocol, &out = layout.between.*of.protocol;
  const double outside = layout.nodes - 1, within = ranksOf(layout) - 1 - outside;
  double perByte = 0;
  if (layout.devices > 1)
    perByte = layout.inside.secondsPerByte / in.share;
  if (layout.nodes > 1)
    perByte = std::max(perByte, layout.between.secondsPerByte / out.share);
  return {use.calls * of.ringBase + use.ways * (within * in.latency + outside * out.latency),
          use.bytes * perByte};
}

std::vector<AffineCost> ringLines(const NcclLayout &layout, const RingUse &use) {
  std::vector<AffineCost> lines;
  for (const Constants &of : protocols)
    lines.push_back(ringLine(of, layout, use));
  return lines;
}

AffineCost treeLine(const Constants &of, const NcclLayout &layout) {
  const NcclProtocol &in = layout.inside.*of.protocol, &out = layout.between.*of.protocol;
  double latency = of.treeBase, perByte = 0;
  if (layout.devices > 1) {
    latency += 2 * (layout.devices - 1) * of.treeInside * in.latency;
    perByte = 2 * layout.inside.secondsPerByte / (chainShare * in.share);
  }
  if (layout.nodes > 1) {
    latency += 2 * levelsOf(layout.nodes) * of.treeBetween * out.latency;
    perByte = std::max(perByte, passes(layout.nodes) * layout.between.secondsPerByte / out.share);
  }
  return {latency, perByte};
}

/// The switch's sums, below trees over the nodes where there are several.
AffineCost switchLine(const NcclLayout &layout) {
  const NcclProtocol &sum = *layout.inside.inSwitch, &out = layout.between.simple;
  double latency = sum.latency, perByte = layout.inside.secondsPerByte / sum.share;
  if (layout.nodes > 1) {
    latency += 2 * levelsOf(layout.nodes) * out.latency;
    perByte = std::max(perByte, passes(layout.nodes) * layout.between.secondsPerByte / out.share);
  }
  return {latency, perByte};
}

/// The minimum of lines as straight pieces, exact at whole bytes but for rounding; of all seconds
/// the part `times` counts.
std::shared_ptr<const CollectiveCost> lowest(std::vector<AffineCost> lines, double times = 1) {
  const auto fewestAt = [&](double bytes) {
    return std::ranges::min(lines, {}, [&](const AffineCost &line) {
      // Where two lines meet, the one that goes on lower comes first.
      return std::pair(line.latency() + line.secondsPerByte() * bytes, line.secondsPerByte());
    });
  };
  AffineCost line = fewestAt(0);
  std::vector<CostPoint> points;
  const auto add = [&](double bytes) {
    const auto whole = static_cast<std::int64_t>(bytes);
    if (points.empty() || whole > points.back().bytes)
      points.push_back({whole, times * line.seconds(whole)});
  };
  add(0);
  while (true) {
    double next = 0x1p62;
    const AffineCost *after = nullptr;
    for (const AffineCost &other : lines) {
      if (other.secondsPerByte() >= line.secondsPerByte())
        continue;
      const double meets =
          (other.latency() - line.latency()) / (line.secondsPerByte() - other.secondsPerByte());
      if (meets < next ||
          (after && meets == next && other.secondsPerByte() < after->secondsPerByte()))
        next = meets, after = &other;
    }
    if (!after)
      break;
    add(std::floor(next)); // the last byte by the one line, the first by the other
    line = *after;
    add(std::ceil(next));
  }
  add(static_cast<double>(points.back().bytes + (std::int64_t(1) << 30)));
  return std::make_shared<TableCost>(*TableCost::create(points));
}

} // namespace

std::vector<AffineCost> ncclLines(NcclAlgorithm algorithm, const NcclLayout &layout) {
  std::vector<AffineCost> lines;
  switch (algorithm) {
  case NcclAlgorithm::ring:
    return ringLines(layout, sumUse(ranksOf(layout), 1));
  case NcclAlgorithm::tree:
    for (const Constants &of : protocols)
      lines.push_back(treeLine(of, layout));
    break;
  case NcclAlgorithm::inSwitch:
  case NcclAlgorithm::switchTree:
    if (layout.devices > 1 && layout.inside.inSwitch &&
        (layout.nodes > 1) == (algorithm == NcclAlgorithm::switchTree))
      lines.push_back(switchLine(layout));
    break;
  }
  return lines;
}

std::shared_ptr<const CollectiveCost> ncclCost(Scheme scheme, const NcclLayout &layout) {
  if (layout.nodes == 1 && layout.devices == 1)
    return std::make_shared<AffineCost>(0, 0);
  if (scheme == Scheme::ring)
    return lowest(ncclLines(NcclAlgorithm::ring, layout));
  if (scheme == Scheme::tree)
    return lowest(ncclLines(NcclAlgorithm::tree, layout));
  if (scheme == Scheme::reduceScatter)
    return lowest(ringLines(layout, sumUse(ranksOf(layout), 2)));
  std::vector<AffineCost> all;
  for (NcclAlgorithm algorithm : {NcclAlgorithm::ring, NcclAlgorithm::tree, NcclAlgorithm::inSwitch,
                                  NcclAlgorithm::switchTree}) {
    const std::vector<AffineCost> lines = ncclLines(algorithm, layout);
    all.insert(all.end(), lines.begin(), lines.end());
  }
  // Rounding must not decide between the choice and what is chosen.
  constexpr double barelyLess = 1 - 1e-12;
  return lowest(std::move(all), barelyLess);
}

std::shared_ptr<const CollectiveCost> ncclGatherCost(const NcclLayout &layout) {
  const double others = ranksOf(layout) - 1;
  if (others == 0)
    return std::make_shared<AffineCost>(0, 0);
  return lowest(ringLines(layout, {.calls = 1, .ways = 1, .bytes = others}));
}

LinkRates ncclExchangeRates(const NcclLayout &layout) {
  // NCCL_MAX_DEV_WORK_P2P_PER_BATCH go to other nodes at a time. Within a node a published
  // all-to-all takes longer than an all-gather by as much as all its messages one by one.
  constexpr int atOnce = 8;
  // Published all-to-alls between nodes reach 0.5 to 0.85 of the rate, on average this part of what
  // rings reach; within a node as much as these.
  constexpr double partOfRing = 0.8;
  const int inside = layout.devices - 1, outside = (layout.nodes - 1) * layout.devices;
  if (inside + outside == 0)
    return {};
  double latency = protocols[2].ringBase, perByte = 0;
  if (inside > 0) {
    latency += inside * layout.inside.simple.latency;
    perByte = layout.inside.secondsPerByte / layout.inside.simple.share;
  }
  if (outside > 0) {
    latency += (outside + atOnce - 1) / atOnce * layout.between.simple.latency;
    perByte = std::max(perByte, layout.devices * layout.between.secondsPerByte /
                                    (partOfRing * layout.between.simple.share));
  }
  return {latency / (inside + outside), perByte, 0};
}

} // namespace syncline::problem
