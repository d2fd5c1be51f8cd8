// Random costs and backward passes, in the ranges that real ones have: kilobytes to megabytes,
// microseconds to milliseconds.
#include "tests/unit/solver/RandomMergeProblem.h"

#include <cmath>

namespace syncline::solver {

using namespace problem;

namespace {

std::shared_ptr<const CollectiveCost> table(std::vector<CostPoint> points) {
  return std::make_shared<TableCost>(*TableCost::create(points));
}

std::shared_ptr<const CollectiveCost> concaveTable(Random &random) {
  std::vector<CostPoint> points;
  double latency = random.between(1e-5, 1e-3), slope = 1e-8, time = latency;
  std::int64_t bytes = 1024;
  for (int i = 0; i < 8; ++i) {
    points.push_back({bytes, time});
    slope *= random.between(0.5, 1);
    time += slope * static_cast<double>(bytes);
    bytes *= 2;
  }
  return table(points);
}

/// Lines of random slope with jumps between them, down as well as up where `mayFall`. Half of them
/// jump exactly at multiples of 4,096 bytes, sizes that messages of LayerKind::grid have.
std::shared_ptr<const CollectiveCost> jumpyTable(Random &random, bool mayFall) {
  std::vector<CostPoint> points;
  std::int64_t bytes = random.below(3) == 0 ? 0 : 1 + random.below(4096);
  double time = random.between(1e-6, 1e-3);
  bool onGrid = random.below(2) == 0;
  for (int i = 0, pieces = 2 + static_cast<int>(random.below(6)); i < pieces; ++i) {
    points.push_back({bytes, time});
    bytes += 1 + random.below(std::int64_t{1} << (10 + random.below(11)));
    if (onGrid)
      bytes |= 4095;
    time *= random.between(mayFall ? 0.4 : 1, 2);
    points.push_back({bytes, time});
    bytes += 1;
    time *= random.between(mayFall ? 0.3 : 1, 3);
  }
  points.push_back({bytes, time});
  points.push_back({bytes * 2, time * random.between(mayFall ? 0.5 : 1, 2)});
  return table(points);
}

std::shared_ptr<const CollectiveCost> randomCost(Random &random, CostKind kind) {
  double slope = random.between(1e-10, 1e-8);
  switch (kind) {
  case CostKind::affine:
    return std::make_shared<AffineCost>(random.between(1e-5, 2e-3), slope);
  case CostKind::noLatency:
    return std::make_shared<AffineCost>(0, slope);
  case CostKind::hugeLatency:
    return std::make_shared<AffineCost>(random.between(1, 100), slope);
  case CostKind::concaveTable:
    return concaveTable(random);
  case CostKind::jumpy:
    return jumpyTable(random, false);
  case CostKind::falling:
  case CostKind::mixed:
    return jumpyTable(random, true);
  case CostKind::level: {
    const double latency = random.between(1e-5, 1e-3);
    return table({{4096, latency}, {8192, latency + slope * 4096}});
  }
  }
  return nullptr;
}

} // namespace

std::vector<SchemeOption> randomOptions(Random &random, CostKind kind) {
  std::vector<SchemeOption> options{{Scheme::ring, randomCost(random, kind)}};
  if (kind == CostKind::mixed)
    options.push_back({Scheme::tree, randomCost(random, CostKind::affine)});
  return options;
}

std::vector<MergeLayer> randomLayers(Random &random, LayerKind kind, std::size_t count) {
  std::vector<MergeLayer> layers;
  double ready = random.between(0, 1e-3);
  double pace = std::pow(10, random.between(-5, -2));
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t bytes = 1 + random.below(std::int64_t{1} << (6 + random.below(16)));
    switch (kind) {
    case LayerKind::spread:
      ready += random.between(0, pace);
      break;
    case LayerKind::backlog:
      ready += random.between(0, 1e-7);
      break;
    case LayerKind::allAtOnce:
      ready = 0;
      break;
    case LayerKind::steps:
      ready += random.below(5) == 0 ? random.between(0, 5 * pace) : 0;
      break;
    case LayerKind::sparse:
      ready += random.between(0.1, 1);
      break;
    case LayerKind::zeroBytes:
      ready += random.between(0, pace);
      bytes = random.below(3) == 0 ? bytes : 0;
      break;
    case LayerKind::grid:
      ready = static_cast<double>(i / 2) * 1e-4;
      bytes = 4096 * random.below(4);
      break;
    }
    layers.push_back({bytes, ready});
  }
  return layers;
}

} // namespace syncline::solver
