// Formulas of the schemes' costs.
#include "passes/problem/SchemeCost.h"

#include "passes/problem/TreeCost.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace syncline::problem {

namespace {

/// The cost of a server on every rank. Each rank sends every other its block, then the sum of its
/// own block: 2(P-1) messages and the bytes of a ring. The two rounds do not overlap.
AffineCost symmetricCost(const ServerLayout &layout) {
  LinkRates link = layout.worker;
  if (layout.duplex == Duplex::half)
    link.secondsPerByte *= 2;
  return formulaLine(Scheme::ring, layout.workers, link);
}

/// The cost of servers on the first S < P ranks, in two rounds that do not overlap. A rank
/// without a server pushes everything, to S servers; a server keeps its own block, sums P-1 and
/// answers P-1.
AffineCost colocatedCost(const ServerLayout &layout) {
  double p = layout.workers, s = layout.servers;
  double serverOut = (s - 1) / s, serverIn = (p - 1) / s;
  double busiest =
      layout.duplex == Duplex::full ? std::max(1.0, serverIn) : std::max(1.0, serverOut + serverIn);
  const LinkRates &link = layout.worker;
  return {(s + p - 1) * link.latency,
          2 * busiest * link.secondsPerByte + serverIn * link.reduceSecondsPerByte};
}

/// The cost of dedicated servers. A worker pushes to S servers, a server answers P workers; pull
/// moves as many bytes as push.
std::shared_ptr<const CollectiveCost> dedicatedCost(const ServerLayout &layout) {
  double p = layout.workers, s = layout.servers;
  double phase = std::max(layout.worker.secondsPerByte, p / s * layout.server.secondsPerByte);
  double summed = (p - 1) / s * layout.server.reduceSecondsPerByte;
  double latency = s * layout.worker.latency + p * layout.server.latency;
  double slope = 2 * phase + summed;
  if (layout.pieceBytes <= 0)
    return std::make_shared<AffineCost>(latency, slope);
  // Full duplex links carry both directions at once.
  double paced = std::max(layout.duplex == Duplex::full ? phase : 2 * phase, summed);
  std::int64_t piece = layout.pieceBytes * layout.servers; // one piece of every server's block
  double first = latency + slope * static_cast<double>(piece);
  CostPoint points[] = {
      {0, latency}, {piece, first}, {2 * piece, first + paced * static_cast<double>(piece)}};
  return std::make_shared<TableCost>(*TableCost::create(points));
}

/// The size of a message that stands for all that are not short.
constexpr std::int64_t longBytes = oneTreeBytes + 1;

AffineCost sum(const AffineCost &a, const AffineCost &b) {
  return {a.latency() + b.latency(), a.secondsPerByte() + b.secondsPerByte()};
}

} // namespace

std::shared_ptr<const CollectiveCost> parameterServerCost(const ServerLayout &layout) {
  if (layout.workers <= 1)
    return std::make_shared<AffineCost>(0, 0);
  if (layout.dedicated)
    return dedicatedCost(layout);
  return std::make_shared<AffineCost>(layout.servers == layout.workers ? symmetricCost(layout)
                                                                       : colocatedCost(layout));
}

AffineCost allGatherCost(int ranks, const LinkRates &rates) {
  double others = ranks - 1;
  return {others * rates.latency, others * rates.secondsPerByte};
}

std::shared_ptr<const CollectiveCost> withExtraPerByte(const CollectiveCost &cost,
                                                       double secondsPerByte) {
  const std::span<const CostSegment> pieces = cost.segments();
  if (pieces.size() == 1)
    return std::make_shared<AffineCost>(pieces[0].base, pieces[0].slope + secondsPerByte);
  auto secondsAt = [&](std::int64_t bytes) {
    return cost.seconds(bytes) + secondsPerByte * static_cast<double>(bytes);
  };
  std::vector<CostPoint> points;
  auto add = [&](std::int64_t bytes) {
    if (points.empty() || points.back().bytes < bytes)
      points.push_back({bytes, secondsAt(bytes)});
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::int64_t first = pieces[i].firstByte;
    // Where a piece does not end at the beginning of the next, its last byte is a point of its own.
    if (i > 0) {
      const double line = secondsAt(first - 1) + pieces[i - 1].slope + secondsPerByte;
      if (std::abs(secondsAt(first) - line) > 1e-12 * std::abs(line))
        add(first - 1);
    }
    add(first);
  }
  // The last line continues for ever; a long stretch of it keeps its slope to the last digits.
  const std::int64_t last = pieces.back().firstByte,
                     stretch = std::max(last, std::int64_t{1} << 20);
  add(last + std::min(stretch, std::numeric_limits<std::int64_t>::max() - last));
  return std::make_shared<TableCost>(*TableCost::create(points));
}

std::shared_ptr<const CollectiveCost> narrowed(std::shared_ptr<const CollectiveCost> cost,
                                               double share) {
  if (share == 1)
    return cost;
  if (const auto *formula = dynamic_cast<const FormulaCost *>(cost.get())) {
    LinkRates rates = formula->rates();
    rates.secondsPerByte *= share;
    return formulaCost(formula->scheme(), formula->ranks(), rates);
  }
  if (const auto *line = dynamic_cast<const AffineCost *>(cost.get()))
    return std::make_shared<AffineCost>(line->latency(), line->secondsPerByte() * share);
  // A point further out stays further out, since distances grow.
  std::vector<CostPoint> points;
  for (const CostPoint &point : dynamic_cast<const TableCost &>(*cost).points())
    points.push_back({std::llround(static_cast<double>(point.bytes) / share), point.seconds});
  return std::make_shared<TableCost>(*TableCost::create(points));
}

double extraPerByte(const CollectiveCost &whole, const CollectiveCost &collective) {
  constexpr std::int64_t large = std::int64_t{1} << 40; // the shared latency then rounds little
  return std::max(0.0, (whole.seconds(large) - collective.seconds(large)) / large);
}

AffineCost HierarchicalCost::total() const { return sum(sum(scatter, exchange), gather); }

HierarchicalCost hierarchicalCost(const NodeLayout &layout) {
  double d = layout.devicesPerNode, n = layout.nodes;
  const LinkRates &in = layout.inside, &out = layout.between;
  AffineCost scatter((d - 1) * in.latency,
                     (d - 1) / d * (in.secondsPerByte + in.reduceSecondsPerByte));
  AffineCost gather((d - 1) * in.latency, (d - 1) / d * in.secondsPerByte);
  // Each of the d devices exchanges N/d bytes; d / linksPerNode devices share a card. Each device
  // reduces its own part.
  double wire = 2 * (n - 1) / n / layout.linksPerNode * out.secondsPerByte;
  double reduce = (n - 1) / n / d * out.reduceSecondsPerByte;
  return {scatter, AffineCost(2 * (n - 1) * out.latency, wire + reduce), gather};
}

AffineCost ncclTreeCost(const NodeLayout &layout) {
  const LinkRates &out = layout.between;
  if (layout.nodes * layout.devicesPerNode == 1)
    return {0, 0};
  const int levels = std::bit_width(static_cast<unsigned>(layout.nodes - 1));
  const double latency = levels * out.latency + (layout.devicesPerNode - 1) * layout.inside.latency;
  return {2 * latency, 2 * out.secondsPerByte + out.reduceSecondsPerByte};
}

double parameterServerTraffic(const ServerLayout &layout) {
  double p = layout.workers, s = layout.servers;
  if (layout.workers <= 1)
    return 0;
  return layout.dedicated ? 2 : 2 * (p + s - 2) / s;
}

std::optional<double> shortTraffic(Scheme scheme, int ranks) {
  if (scheme != Scheme::tree || ranks <= 2)
    return std::nullopt;
  return treeTraffic(ranks, oneTreeBytes);
}

double ringTraffic(int ranks) { return formulaTraffic(Scheme::ring, ranks, longBytes); }

double allGatherTraffic(int ranks) { return 2.0 * (ranks - 1); }

} // namespace syncline::problem
