// Functions of MergeProblem that need no solver.
#include "passes/problem/MergeProblem.h"

namespace syncline::problem {

std::size_t MergeProblem::bestOption(std::int64_t bytes) const {
  return fastestOption(options, bytes);
}

double MergeProblem::seconds(std::int64_t bytes) const {
  return options[bestOption(bytes)].cost->seconds(bytes);
}

std::vector<std::int64_t> MergeProblem::prefixBytes() const {
  std::vector<std::int64_t> prefix{0};
  prefix.reserve(layers.size() + 1);
  for (const MergeLayer &layer : layers)
    prefix.push_back(prefix.back() + layer.bytes);
  return prefix;
}

} // namespace syncline::problem
