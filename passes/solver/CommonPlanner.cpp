// Carries a solution over to a problem of other times.
#include "passes/solver/CommonPlanner.h"

#include "passes/solver/Replay.h"

#include <algorithm>

namespace syncline::solver {
namespace {

/// What choices depend on beside times: they name classes and options by number.
struct Shape {
  struct LayerShape {
    std::int64_t bytes;
    std::uint32_t mergeClasses;
    std::vector<Scheme> factors;
    friend bool operator==(const LayerShape &, const LayerShape &) = default;
  };
  std::vector<LayerShape> layers;
  std::vector<std::vector<Scheme>> mergeClasses;

  explicit Shape(const Problem &problem) {
    const auto schemesOf = [](const auto &options) {
      std::vector<Scheme> schemes;
      for (const auto &option : options)
        schemes.push_back(option.scheme);
      return schemes;
    };
    for (const Layer &layer : problem.layers)
      layers.push_back({layer.bytes, layer.mergeClasses, schemesOf(layer.factorOptions)});
    for (const MergeClass &mergeClass : problem.mergeClasses)
      mergeClasses.push_back(schemesOf(mergeClass.options));
  }
};

Status expectEqual(const Shape &decided, const Shape &asked) {
  if (decided.layers.size() != asked.layers.size())
    return Status::badInput("the common buckets are of " + std::to_string(decided.layers.size()) +
                            " gradients, this step has " + std::to_string(asked.layers.size()));
  const auto [one, other] = std::ranges::mismatch(decided.layers, asked.layers);
  if (one != decided.layers.end())
    return Status::badInput("gradient " + std::to_string(one - decided.layers.begin() + 1) +
                            " has another size, or may travel by other schemes, than where the "
                            "common buckets were chosen");
  return decided.mergeClasses == asked.mergeClasses
             ? Status::ok()
             : Status::badInput("buckets may travel by other schemes than where the common ones "
                                "were chosen");
}

} // namespace

std::shared_ptr<const Planner> commonPlanner(const Problem &problem, const Solution &solution) {
  const auto rule = [shape = Shape(problem), choices = choicesOf(problem, solution)](
                        const Problem &asked) -> Result<std::vector<Choice>> {
    SYNCLINE_TRY(expectEqual(shape, Shape(asked)));
    if (!choicesAreSound(asked, choices))
      return Status::badInput("the common buckets exceed what a message may carry");
    return choices;
  };
  return std::make_shared<const Planner>(std::string(commonName), MergeRule(rule));
}

std::shared_ptr<const Planner> commonPlannerOfPlan() {
  const auto refuse = [](const Problem &) -> Result<std::vector<Choice>> {
    return Status::badInput("plans only in 'syncline compile'");
  };
  return std::make_shared<const Planner>(std::string(commonName), MergeRule(refuse));
}

} // namespace syncline::solver
