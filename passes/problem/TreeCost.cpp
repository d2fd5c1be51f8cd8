// Places, cuts and times of the runtime's two trees.
#include "passes/problem/TreeCost.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace syncline::problem {

namespace {

// The runtime's constants (Transport::bufferedBytes, the longest segment of TreeAllReduce). A test
// compares the results that follow from them.
constexpr std::int64_t wholeBytes = 64 << 10; ///< the largest half that goes in one segment
constexpr std::int64_t segmentBytes = 128 << 10;

} // namespace

TreeCut treeCut(std::int64_t bytes) {
  if (bytes <= oneTreeBytes)
    return {1, 1};
  const std::int64_t half = bytes - bytes / 2;
  const std::int64_t least = half > wholeBytes ? 2 : 1;
  return {2, std::max(least, half / segmentBytes + (half % segmentBytes > 0))};
}

namespace {

/// The terms of a message's time; README.md, "The tree", derives them.
class TreeTimes {
public:
  TreeTimes(int ranks, const LinkRates &rates) : rates(rates) {
    const auto count = static_cast<unsigned>(ranks);
    const bool isFull = std::has_single_bit(count + 1), hasLoneRoot = std::has_single_bit(count);
    const int height = treeHeight(ranks);
    way = 4 * height - (hasLoneRoot ? 2 : isFull ? 0 : 1);
    latency = (3 * height - (isFull ? 0 : 1)) * rates.latency;
    beat = treeTraffic(ranks, oneTreeBytes + 1) * rates.secondsPerByte +
           (ranks == 2 ? 1 : 2) * rates.reduceSecondsPerByte;
  }

  double seconds(std::int64_t bytes, TreeCut cut) const {
    return latency + slope(cut) * static_cast<double>(bytes);
  }
  /// The smallest size that takes `level` seconds in this cut.
  std::int64_t sizeAt(double level, TreeCut cut) const {
    return static_cast<std::int64_t>(std::ceil((level - latency) / slope(cut)));
  }

private:
  double slope(TreeCut cut) const {
    const auto segments = static_cast<double>(cut.segments);
    const double first = way * (rates.secondsPerByte + rates.reduceSecondsPerByte / 2);
    return ((segments - 1) * beat + first) / (cut.trees * segments);
  }

  LinkRates rates;
  int way = 0;        ///< F: segments sent, one after the other, along the first one's path
  double latency = 0; ///< seconds
  double beat = 0;    ///< seconds per byte of a segment
};

} // namespace

std::shared_ptr<const CollectiveCost> treeCost(int ranks, const LinkRates &rates) {
  if (ranks <= 1)
    return std::make_shared<AffineCost>(0, 0);
  const TreeTimes times(ranks, rates);
  std::vector<CostPoint> points{{0, times.seconds(0, {})}};
  auto add = [&](std::int64_t bytes) {
    points.push_back({bytes, times.seconds(bytes, treeCut(bytes))});
  };
  // The largest sizes of one tree, of two trees with one segment each, and of two with
  // two segments.
  for (std::int64_t end : {oneTreeBytes, 2 * wholeBytes, 4 * segmentBytes}) {
    const CostPoint before = points.back();
    // Where the finer cut is faster, the cost stays level until the bytes have made up for that.
    if (const TreeCut cut = treeCut(end); times.seconds(before.bytes + 1, cut) < before.seconds)
      points.push_back({times.sizeAt(before.seconds, cut), before.seconds});
    add(end);
  }
  add(8 * segmentBytes); // beyond, one more segment every 256 KiB, which makes one line
  return std::make_shared<TableCost>(*TableCost::create(points));
}

double treeTraffic(int ranks, std::int64_t bytes) {
  if (ranks <= 1)
    return 0;
  // In one tree the busiest rank has a parent and two children, both directions. In two trees, each
  // with half of the bytes, it also has a parent in the other tree, where it is a leaf.
  return treeCut(bytes).trees == 1 ? 2 * std::min(ranks - 1, 3) : std::min(ranks, 4);
}

double treeCardLoad(int nodes, int devices) {
  // More nodes or devices than these have no, or few, more edges between nodes.
  constexpr int maxNodes = 8, maxDevices = 64;
  nodes = std::min(nodes, maxNodes);
  devices = std::min(devices, maxDevices);
  const int ranks = nodes * devices;
  std::vector<int> leaving(static_cast<std::size_t>(nodes));
  for (int tree = 0; tree < 2; ++tree)
    for (int rank = 0; rank < ranks; ++rank)
      if (const int parent = treePlace(tree, rank, ranks).parent;
          parent >= 0 && parent / devices != rank / devices) {
        ++leaving[static_cast<std::size_t>(rank / devices)];
        ++leaving[static_cast<std::size_t>(parent / devices)];
      }
  return *std::ranges::max_element(leaving) / 2.0;
}

} // namespace syncline::problem
