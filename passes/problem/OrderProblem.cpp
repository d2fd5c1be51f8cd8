// Validation of order problems, and the layout of merge classes.
#include "passes/problem/OrderProblem.h"

#include "passes/problem/Rounding.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>

namespace syncline::problem {

/// Updates are parts of the computation: of all tails behind which they stand.
static Status validateUpdates(const OrderProblem &problem) {
  if (problem.update.empty())
    return Status::ok();
  if (problem.update.size() != problem.tail.size())
    return Status::badInput("order problem: expected " + std::to_string(problem.tail.size()) +
                            " updates, got " + std::to_string(problem.update.size()));
  double left = problem.forward;
  for (std::size_t k : readersOf(problem)) {
    const double own = problem.update[k];
    const bool fits = problem.tail[k] + own <= left + sumRounding * problem.forward;
    if (!(own >= 0) || !fits)
      return Status::badInput("layer " + std::to_string(k + 1) +
                              " in backward order: expected an update from 0 s to the " +
                              std::to_string(std::max(left - problem.tail[k], 0.0)) +
                              " s before its tail, got " + std::to_string(own) + " s");
    left = problem.tail[k];
  }
  return Status::ok();
}

std::vector<std::size_t> readersOf(const OrderProblem &problem) {
  std::vector<std::size_t> readers(problem.tail.size());
  std::iota(readers.begin(), readers.end(), std::size_t{0});
  std::ranges::stable_sort(readers, std::greater(), [&](std::size_t k) { return problem.tail[k]; });
  return readers;
}

Status validate(const OrderProblem &problem) {
  SYNCLINE_TRY(validate(problem.sync));
  if (!std::isfinite(problem.forward) || problem.forward < 0)
    return Status::badInput("order problem: expected a finite forward pass >= 0 s, got " +
                            std::to_string(problem.forward) + " s");
  if (problem.tail.size() != problem.sync.layers.size())
    return Status::badInput("order problem: expected " +
                            std::to_string(problem.sync.layers.size()) + " tails, got " +
                            std::to_string(problem.tail.size()));
  for (std::size_t k = 0; k < problem.tail.size(); ++k)
    if (!(problem.tail[k] >= 0 && problem.tail[k] <= problem.forward))
      return Status::badInput(
          "layer " + std::to_string(k + 1) +
          " in backward order: expected a tail from 0 s to the forward pass's " +
          std::to_string(problem.forward) + " s, got " + std::to_string(problem.tail[k]) + " s");
  SYNCLINE_TRY(validateUpdates(problem));
  if (problem.grain < 1)
    return Status::badInput("order problem: expected a grain of at least 1 B, got " +
                            std::to_string(problem.grain) + " B");
  return Status::ok();
}

bool travelsBothWays(const OrderProblem &problem, std::size_t layer) {
  if (layer >= problem.sync.layers.size())
    return false;
  const Layer &split = problem.sync.layers[layer];
  return split.mergeClasses != 0 && !split.factorOptions.empty() && !split.carrier;
}

OrderProblem restricted(const OrderProblem &problem, std::size_t layer, bool byFactors) {
  OrderProblem one = problem;
  Layer &split = one.sync.layers[layer];
  if (!byFactors) {
    split.factorOptions.clear();
    for (Layer &rider : one.sync.layers)
      if (rider.carrier == layer && rider.mergeClasses != 0)
        rider.carrier.reset();
    return one;
  }
  split.mergeClasses = 0;
  const double least =
      std::ranges::min_element(split.factorOptions, {}, &FactorOption::reconstruct)->reconstruct;
  for (FactorOption &option : split.factorOptions)
    option.reconstruct -= least;
  for (std::size_t k : readersOf(problem)) {
    if (k == layer)
      break;
    one.tail[k] += least;
  }
  one.update.resize(one.tail.size(), 0);
  one.update[layer] += least;
  one.forward += least;
  return one;
}

bool canTellOrder(const OrderProblem &problem, std::size_t factors, std::size_t other) {
  const std::vector<Layer> &layers = problem.sync.layers;
  const auto travels = [&](std::size_t k) {
    return k < layers.size() && layers[k].bytes > 0 && !layers[k].carrier;
  };
  return factors != other && travels(factors) && travels(other) &&
         layers[factors].mergeClasses == 0 && !layers[factors].factorOptions.empty();
}

OrderProblem ordered(const OrderProblem &problem, std::size_t first, std::size_t second) {
  OrderProblem one = problem;
  // Buckets may travel in parts, of which the last one may be short.
  const auto least = [&](std::size_t k) {
    const Layer &layer = problem.sync.layers[k];
    return layer.mergeClasses == 0
               ? std::ranges::min_element(layer.factorOptions, {}, &FactorOption::seconds)->seconds
               : 0;
  };
  const double longer = least(second) + problem.tailBehind(second) - problem.tailBehind(first);
  one.tail[first] += std::max(0.0, longer);
  Layer &later = one.sync.layers[second];
  if (later.mergeClasses == 0)
    later.ready = std::max(later.ready, problem.sync.layers[first].ready + least(first));
  return one;
}

WeakestCase weakestCase(const OrderProblem &problem, const OrderCertificate &certificate) {
  WeakestCase weakest{problem, certificate, {}, {}};
  while (!weakest.certificate.cases.empty()) {
    const OrderCertificate split = std::move(weakest.certificate);
    const bool isFirst = split.cases[0].bound <= split.cases[1].bound;
    weakest.certificate = split.cases[isFirst ? 0 : 1];
    if (split.other) {
      const auto [before, behind] =
          isFirst ? std::pair(split.splits, *split.other) : std::pair(*split.other, split.splits);
      weakest.problem = ordered(weakest.problem, before, behind);
      weakest.orders.emplace_back(before, behind);
      continue;
    }
    weakest.problem = restricted(weakest.problem, split.splits, isFirst);
    weakest.fixed.emplace_back(split.splits, isFirst);
  }
  return weakest;
}

double secondsOf(const Problem &problem, const Piece &piece) {
  if (piece.isFactors)
    return problem.layers[piece.index].factorOptions[piece.option].seconds;
  const double whole =
      problem.mergeClasses[piece.index].options[piece.option].cost->seconds(piece.bytes());
  return piece.half == Half::whole ? whole : whole / 2;
}

std::optional<std::size_t> bestHalvedOption(const MergeClass &mergeClass, std::int64_t bytes) {
  std::optional<std::size_t> best;
  double least = 0;
  for (std::size_t i = 0; i < mergeClass.options.size(); ++i) {
    if (!hasHalves(mergeClass.options[i].scheme))
      continue;
    const double seconds = mergeClass.options[i].cost->seconds(bytes);
    if (!best || seconds < least) {
      best = i;
      least = seconds;
    }
  }
  return best;
}

ClassLayout::ClassLayout(const Problem &problem, std::span<const Choice> choices,
                         std::size_t mergeClass)
    : begin{0} {
  for (std::size_t k = choices.size(); k-- > 0;)
    if (choices[k].kind == Choice::Kind::bucket && choices[k].index == mergeClass) {
      layers.push_back(k);
      begin.push_back(begin.back() + problem.layers[k].bytes);
    }
}

std::size_t ClassLayout::indexAt(std::int64_t at) const {
  return static_cast<std::size_t>(std::upper_bound(begin.begin(), begin.end(), at) -
                                  begin.begin()) -
         1;
}

} // namespace syncline::problem
