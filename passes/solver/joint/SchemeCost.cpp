// The schemes' formulas.
#include "passes/solver/joint/SchemeCost.h"

#include <algorithm>

namespace syncline::solver {

namespace {

/// Seconds per byte of gradient that the busiest link is busy: in either phase alone (the pull is
/// the push's mirror image), and when both go on at once.
struct PhaseRates {
  double alone = 0, together = 0;
};

PhaseRates dedicatedPhases(const ServerLayout &layout) {
  double p = layout.workers, s = layout.servers;
  double phase = std::max(layout.worker.secondsPerByte, p / s * layout.server.secondsPerByte);
  // A push and a pull run in opposite directions.
  return {phase, layout.duplex == Duplex::full ? phase : 2 * phase};
}

PhaseRates colocatedPhases(const ServerLayout &layout) {
  double p = layout.workers, s = layout.servers;
  // A node that is both keeps its own shard. In the push it sends the other shards and receives its
  // shard from the others. A node that only works moves everything.
  double workerBytes = s < p ? 1 : (s - 1) / s;
  double serverOut = (s - 1) / s, serverIn = (p - 1) / s;
  double busiest = layout.duplex == Duplex::full ? std::max({workerBytes, serverOut, serverIn})
                                                 : std::max(workerBytes, serverOut + serverIn);
  double beta = layout.worker.secondsPerByte;
  // Together, both directions of a node that is both carry a push's and a pull's bytes.
  double together =
      layout.duplex == Duplex::full ? std::max(workerBytes, serverOut + serverIn) : 2 * busiest;
  return {busiest * beta, together * beta};
}

double elements(const FactorShape &shape) {
  return static_cast<double>(shape.samples) * static_cast<double>(shape.inputs + shape.outputs);
}

double matrix(const FactorShape &shape) {
  return static_cast<double>(shape.inputs) * static_cast<double>(shape.outputs);
}

AffineCost sum(const AffineCost &a, const AffineCost &b) {
  return {a.latency() + b.latency(), a.secondsPerByte() + b.secondsPerByte()};
}

} // namespace

std::shared_ptr<const CollectiveCost> parameterServerCost(const ServerLayout &layout) {
  if (layout.workers <= 1 && !layout.dedicated)
    return std::make_shared<AffineCost>(0, 0);
  PhaseRates phases = layout.dedicated ? dedicatedPhases(layout) : colocatedPhases(layout);
  double p = layout.workers, s = layout.servers;
  // A server sums what arrives: all workers' shards, less its own where it is a worker.
  double summed = layout.dedicated ? p / s * layout.server.reduceSecondsPerByte
                                   : (p - 1) / s * layout.worker.reduceSecondsPerByte;
  double latency = 2 * layout.worker.latency;
  double slope = 2 * phases.alone + summed;
  if (layout.pieceBytes <= 0)
    return std::make_shared<AffineCost>(latency, slope);
  double piece = static_cast<double>(layout.pieceBytes);
  double overlapped = std::max(phases.together, summed);
  CostPoint points[] = {{0, latency},
                        {layout.pieceBytes, latency + slope * piece},
                        {2 * layout.pieceBytes, latency + (slope + overlapped) * piece}};
  return std::make_shared<TableCost>(*TableCost::create(points));
}

AffineCost reduceScatterCost(int ranks, const LinkRates &rates) {
  if (ranks <= 1)
    return {0, 0};
  double p = ranks;
  AffineCost scatter((p - 1) * rates.latency,
                     (p - 1) / p * (rates.secondsPerByte + rates.reduceSecondsPerByte));
  AffineCost gather((p - 1) * rates.latency, (p - 1) / p * rates.secondsPerByte);
  return sum(scatter, gather);
}

AffineCost allGatherCost(int ranks, const LinkRates &rates) {
  double others = ranks - 1;
  return {others * rates.latency, others * rates.secondsPerByte};
}

Factors factorsOf(const FactorShape &shape, double operationsPerSecond) {
  double products = static_cast<double>(shape.samples);
  return {shape.factorBytes(), 2 * products * matrix(shape) / operationsPerSecond};
}

AffineCost HierarchicalCost::total() const { return sum(sum(scatter, exchange), gather); }

HierarchicalCost hierarchicalCost(const NodeLayout &layout) {
  double d = layout.devicesPerNode, n = layout.nodes;
  const LinkRates &in = layout.inside, &out = layout.between;
  AffineCost scatter((d - 1) * in.latency,
                     (d - 1) / d * (in.secondsPerByte + in.reduceSecondsPerByte));
  AffineCost gather((d - 1) * in.latency, (d - 1) / d * in.secondsPerByte);
  // Each of the d devices exchanges N/d bytes; d / linksPerNode of them share a card. Each reduces
  // its own part.
  double wire = 2 * (n - 1) / n / layout.linksPerNode * out.secondsPerByte;
  double reduce = (n - 1) / n / d * out.reduceSecondsPerByte;
  return {scatter, AffineCost(2 * (n - 1) * out.latency, wire + reduce), gather};
}

double parameterServerTraffic(const ServerLayout &layout) {
  double p = layout.workers, s = layout.servers;
  return layout.dedicated ? 2 : 2 * (p + s - 2) / s;
}

double ringTraffic(int ranks) { return 4.0 * (ranks - 1) / ranks; }

double allGatherTraffic(int ranks) { return 2.0 * (ranks - 1); }

bool poseidonPrefersFactors(const FactorShape &shape, int ranks, int servers) {
  double p = ranks, s = servers;
  return 2 * (p - 1) * elements(shape) <= 2 * matrix(shape) * (p + s - 2) / s;
}

double poseidonCrossover(const FactorShape &shape) { return 2 * matrix(shape) / elements(shape); }

} // namespace syncline::solver
