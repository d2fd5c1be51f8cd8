// Random merge problems of every kind for the solver's tests, the same on every machine.
#pragma once

#include "passes/problem/Problem.h"

#include <cstdint>
#include <random>
#include <vector>

namespace syncline::solver {

using namespace problem;

/// Shapes of a cost. Tables are made of points, jumps of points one byte apart; `level` rises from
/// 4 KiB on.
enum class CostKind { affine, noLatency, hugeLatency, concaveTable, jumpy, falling, level, mixed };
inline constexpr CostKind allCostKinds[] = {
    CostKind::affine, CostKind::noLatency, CostKind::hugeLatency, CostKind::concaveTable,
    CostKind::jumpy,  CostKind::falling,   CostKind::level,       CostKind::mixed};

/// Shapes of a backward pass. `grid` has few distinct numbers, so that ties abound.
enum class LayerKind { spread, backlog, allAtOnce, steps, sparse, zeroBytes, grid };
inline constexpr LayerKind allLayerKinds[] = {
    LayerKind::spread, LayerKind::backlog,   LayerKind::allAtOnce, LayerKind::steps,
    LayerKind::sparse, LayerKind::zeroBytes, LayerKind::grid};

/// The standard's distributions differ between libraries; this one does not.
class Random {
public:
  explicit Random(std::uint64_t seed) : engine(seed) {}
  double unit() { return static_cast<double>(engine() >> 11) * 0x1p-53; }
  double between(double low, double high) { return low + (high - low) * unit(); }
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(bound));
  }

private:
  std::mt19937_64 engine;
};

/// One or (mixed) two options with a cost of this kind.
std::vector<SchemeOption> randomOptions(Random &random, CostKind kind);

/// `count` layers of this kind.
std::vector<MergeLayer> randomLayers(Random &random, LayerKind kind, std::size_t count);

inline MergeProblem randomProblem(Random &random, CostKind cost, LayerKind layers,
                                  std::size_t count) {
  return {randomLayers(random, layers, count), randomOptions(random, cost)};
}

} // namespace syncline::solver
