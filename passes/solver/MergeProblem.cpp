// What can be said about a merge problem without solving it.
#include "passes/solver/MergeProblem.h"

#include <cmath>
#include <string>

namespace syncline::solver {

namespace {

/// Doubles hold every integer up to here.
constexpr std::int64_t maxBytes = std::int64_t{1} << 53;

Status layerError(std::size_t index, const std::string &what) {
  return Status::badInput("layer " + std::to_string(index + 1) + " in backward order: " + what);
}

} // namespace

std::size_t MergeProblem::bestOption(std::int64_t bytes) const {
  return fastestOption(options, bytes);
}

double MergeProblem::seconds(std::int64_t bytes) const {
  return options[bestOption(bytes)].cost->seconds(bytes);
}

std::vector<std::int64_t> MergeProblem::prefixBytes() const {
  std::vector<std::int64_t> prefix{0};
  prefix.reserve(layers.size() + 1);
  for (const Layer &layer : layers)
    prefix.push_back(prefix.back() + layer.bytes);
  return prefix;
}

Status validate(const MergeProblem &problem) {
  if (problem.options.empty())
    return Status::badInput("merge problem: expected at least one scheme, got none");
  for (const SchemeOption &option : problem.options)
    if (!option.cost)
      return Status::badInput("merge problem: scheme '" + std::string(schemeName(option.scheme)) +
                              "' has no cost");

  std::int64_t total = 0;
  double previous = 0;
  for (std::size_t i = 0; i < problem.layers.size(); ++i) {
    const Layer &layer = problem.layers[i];
    if (layer.bytes < 0)
      return layerError(i, "expected bytes >= 0, got " + std::to_string(layer.bytes));
    if (layer.bytes >= maxBytes - total)
      return layerError(i, "expected less than 2^53 bytes in all");
    total += layer.bytes;
    if (!std::isfinite(layer.ready) || layer.ready < 0)
      return layerError(i, "expected a finite ready time >= 0, got " + std::to_string(layer.ready));
    if (layer.ready < previous)
      return layerError(i, "expected a ready time >= " + std::to_string(previous) + ", got " +
                               std::to_string(layer.ready));
    previous = layer.ready;
  }
  return Status::ok();
}

} // namespace syncline::solver
