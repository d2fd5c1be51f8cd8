// Lists the cases of a certificate of an order.
#include "codegen/json/OrderJson.h"

#include "ir/sync/Cases.h"
#include "passes/merge/ReadProblem.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace mlir;
using Json = nlohmann::json;

namespace syncline::codegen {

namespace {

/// A case that is not told apart further.
struct Leaf {
  llvm::SmallVector<std::int64_t> byFactors, inBuckets; ///< layers whose way it fixes
  /// Layers whose messages end before the last message of another one begins, and that one.
  llvm::SmallVector<std::pair<std::int64_t, std::int64_t>> orders;
  sync::OrderAttr proof;
  double bound = 0; ///< seconds
};

void addLeaves(llvm::SmallVector<Leaf> &leaves, Leaf fixed, Attribute proof) {
  const std::optional<sync::CaseRow> row = sync::caseRow(proof);
  if (!row)
    return;
  if (row->proof) {
    fixed.proof = row->proof;
    fixed.bound = row->bound;
    leaves.push_back(std::move(fixed));
    return;
  }
  Leaf other = fixed;
  if (row->other) {
    fixed.orders.emplace_back(row->layer, *row->other);
    other.orders.emplace_back(*row->other, row->layer);
  } else {
    fixed.byFactors.push_back(row->layer);
    other.inBuckets.push_back(row->layer);
  }
  addLeaves(leaves, std::move(fixed), row->first);
  addLeaves(leaves, std::move(other), row->second);
}

/// A problem's layers where those of a leaf travel as it says.
class LeafLayers {
public:
  LeafLayers(sync::ProblemOp problem, const Leaf &leaf)
      : problem(problem), leaf(leaf), tails(problem.getTails()->getValues()) {
    for (sync::FactorOptionAttr option : problem.factorOptionList())
      if (llvm::is_contained(leaf.byFactors, option.getLayer())) {
        auto [least, isFirst] = reconstruct.try_emplace(option.getLayer(), option.getReconstruct());
        if (!isFirst)
          least->second = std::min<double>(least->second, option.getReconstruct());
      }
    const auto pairs = problem.getPiggybacks().value_or(ArrayRef<std::int64_t>());
    for (std::size_t i = 0; i + 1 < pairs.size(); i += 2)
      if (!llvm::is_contained(leaf.inBuckets, pairs[i + 1]))
        mayRide.insert(pairs[i]);
  }

  /// The computation of a step, with reconstruction.
  double compute() {
    double seconds =
        problem.getBackwardEnd().convertToDouble() + problem.getUpdates().convertToDouble();
    for (const auto &[layer, more] : reconstruct)
      seconds += more;
    return seconds;
  }

  /// The names of the layers whose ready times and tails reach the thresholds of the proof. Those
  /// that may be piggybacks prove nothing.
  Json proving() {
    const double forward = problem.getForwardEnd().convertToDouble();
    const auto count = static_cast<std::int64_t>(tails.size());
    llvm::SmallVector<double> ready, behind;
    for (std::int64_t k = 0; k < count; ++k) {
      ready.push_back(problem.getReady().getValues()[k] - forward);
      behind.push_back(tailOf(k));
    }
    for (const auto &[first, second] : leaf.orders) {
      behind[first] = std::max(behind[first], leastFactors(second) + behind[second]);
      if (mustGoByFactors(second))
        ready[second] = std::max(ready[second], ready[first] + leastFactors(first));
    }
    Json layers = Json::array();
    for (std::int64_t k = 0; k < count; ++k)
      if (ready[k] >= leaf.proof.getReady() && behind[k] >= leaf.proof.getTail() &&
          !mayRide.contains(k))
        layers.push_back(name(k));
    return layers;
  }

  /// Pairs of names.
  Json orders() {
    Json list = Json::array();
    for (const auto &[first, second] : leaf.orders)
      list.push_back({name(first), name(second)});
    return list;
  }

  Json names(ArrayRef<std::int64_t> layers) {
    Json list = Json::array();
    for (std::int64_t k : layers)
      list.push_back(name(k));
    return list;
  }

private:
  std::string name(std::int64_t layer) {
    return cast<StringAttr>(problem.getLayers()[layer]).getValue().str();
  }

  bool mustGoByFactors(std::int64_t layer) {
    const auto only = problem.getOnly();
    return llvm::is_contained(leaf.byFactors, layer) || (only && (*only)[layer] == 0);
  }

  /// Seconds of the layer's fastest factors, without what they take from computation; 0 where it
  /// may travel in a bucket.
  double leastFactors(std::int64_t layer) {
    std::optional<double> least;
    if (mustGoByFactors(layer))
      for (sync::FactorOptionAttr option : problem.factorOptionList())
        if (option.getLayer() == layer) {
          const double seconds = option.getSeconds() - option.getLost().value_or(cluster::Real(0));
          least = std::min(least.value_or(seconds), seconds);
        }
    return least.value_or(0);
  }

  /// What follows the layer's message, with the reconstruction of layers that are read later, its
  /// own, and its update.
  double tailOf(std::int64_t k) {
    double tail = tails[k];
    for (const auto &[layer, more] : reconstruct)
      if (layer == k)
        tail += more + problem.getOwnUpdates()->getValues()[k];
      else if (tails[layer] < tails[k] || (tails[layer] == tails[k] && layer > k))
        tail += more;
    return tail;
  }

  sync::ProblemOp problem;
  const Leaf &leaf;
  ArrayRef<cluster::Real> tails;
  llvm::SmallDenseMap<std::int64_t, double> reconstruct; ///< seconds, of the layers by factors
  llvm::DenseSet<std::int64_t> mayRide;
};

/// Adds what messages take from computation at least: all of them beside `compute`, and those of
/// gradients that are not among `layers`. Nothing where they take none.
void addLeastLost(Json &json, sync::ProblemOp op, const Leaf &leaf) {
  const problem::Problem stated = merge::statedProblem(op);
  if (!problem::slowsComputation(stated))
    return;
  problem::OrderProblem problem = withLeastLosses(*merge::toOrderProblem(op, stated));
  const auto layerOf = [](std::int64_t layer) { return static_cast<std::size_t>(layer); };
  for (std::int64_t layer : leaf.byFactors)
    problem = problem::restricted(problem, layerOf(layer), true);
  for (std::int64_t layer : leaf.inBuckets)
    problem = problem::restricted(problem, layerOf(layer), false);
  for (const auto &[first, second] : leaf.orders)
    problem = problem::ordered(problem, layerOf(first), layerOf(second));
  const problem::LeastLost leastLost(problem);
  std::array<problem::Relaxation::Line, problem::maxMergeClasses> lines;
  const auto numbers = leaf.proof.getLines();
  for (std::size_t l = 0; 2 * l + 1 < numbers.size(); ++l)
    lines[l] = {numbers[2 * l], numbers[2 * l + 1]};
  double beside = 0;
  for (std::size_t k = 0; k < problem.tail.size(); ++k)
    if (problem.sync.layers[k].ready < leaf.proof.getReady() ||
        problem.tailBehind(k) < leaf.proof.getTail())
      beside += leastLost.beside(k, leaf.proof.getChannelWeight().value_or(1.0), lines);
  json["lost"] = leastLost.period() - problem.compute();
  json["lost_beside"] = beside;
}

Json leafJson(sync::ProblemOp problem, const Leaf &leaf) {
  LeafLayers layers(problem, leaf);
  Json lines = Json::array();
  for (cluster::Real number : leaf.proof.getLines())
    lines.push_back(static_cast<double>(number));
  Json json = {{"by_factors", layers.names(leaf.byFactors)},
               {"in_buckets", layers.names(leaf.inBuckets)},
               {"orders", layers.orders()},
               {"bound", leaf.bound},
               {"channel_weight", static_cast<double>(leaf.proof.getChannelWeight().value_or(1.0))},
               {"ready", static_cast<double>(leaf.proof.getReady())},
               {"tail", static_cast<double>(leaf.proof.getTail())},
               {"lines", lines},
               {"layers", layers.proving()},
               {"compute", layers.compute()}};
  addLeastLost(json, problem, leaf);
  return json;
}

} // namespace

Json orderProofJson(sync::ProblemOp problem, sync::SolutionOp solution) {
  llvm::SmallVector<Leaf> leaves;
  addLeaves(leaves, {}, solution.getCasesAttr());
  if (leaves.empty())
    leaves.push_back({{}, {}, {}, cast<sync::OrderAttr>(*solution.getCertificate()), 0});
  llvm::stable_sort(leaves, [](const Leaf &a, const Leaf &b) { return a.bound < b.bound; });
  Json proof = leafJson(problem, leaves.front());
  proof["bound"] = solution.getBound().convertToDouble();
  Json others = Json::array();
  for (const Leaf &leaf : llvm::drop_begin(leaves))
    others.push_back(leafJson(problem, leaf));
  proof["others"] = std::move(others);
  return proof;
}

} // namespace syncline::codegen
