// Validation of order problems, and the layout of merge classes.
#include "passes/problem/OrderProblem.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace syncline::problem {

Status validate(const OrderProblem &problem) {
  if (Status status = validate(problem.sync); !status)
    return status;
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
  if (problem.grain < 1)
    return Status::badInput("order problem: expected a grain of at least 1 B, got " +
                            std::to_string(problem.grain) + " B");
  return Status::ok();
}

ClassLayout::ClassLayout(const Problem &problem, std::span<const Way> ways, std::size_t mergeClass)
    : begin{0} {
  for (std::size_t k = ways.size(); k-- > 0;)
    if (ways[k].kind == Way::Kind::bucket && ways[k].index == mergeClass) {
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
