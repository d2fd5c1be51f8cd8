// Simple solutions, and the search with all schemes in one merge class.
#include "passes/solver/InitialSolution.h"

#include "passes/solver/Labels.h"
#include "passes/solver/Replay.h"
#include "passes/solver/SchemePlanners.h"
#include "passes/solver/StateBound.h"

#include <algorithm>

namespace syncline::solver {

namespace {

/// Turns choices that send every layer alone into choices that send few messages: neighbouring
/// layers of a merge class share a bucket, as far as the class's limit allows.
std::vector<Choice> joined(const Problem &problem, std::vector<Choice> choices) {
  std::array<std::optional<std::size_t>, maxMergeClasses> last;
  std::array<std::int64_t, maxMergeClasses> bytes{};
  for (std::size_t k = 0; k < choices.size(); ++k) {
    if (choices[k].kind != Choice::Kind::bucket)
      continue;
    std::size_t mergeClass = choices[k].index;
    std::int64_t own = problem.layers[k].bytes;
    if (last[mergeClass] &&
        bytes[mergeClass] + own <= problem.mergeClasses[mergeClass].largestMessage)
      choices[*last[mergeClass]].kind = Choice::Kind::join;
    else
      bytes[mergeClass] = 0;
    bytes[mergeClass] += own;
    last[mergeClass] = k;
  }
  return choices;
}

/// The best of a few simple solutions.
Solution plainPlan(const Problem &problem) {
  Solution best;
  best.finish = std::numeric_limits<double>::infinity();
  auto catalog = [&](const std::vector<Choice> &choices) {
    if (Solution plan = replay(problem, choices); plan.finish < best.finish)
      best = std::move(plan);
  };
  for (std::size_t mergeClass = 0; mergeClass < problem.mergeClasses.size(); ++mergeClass) {
    auto never = [](std::size_t) { return false; };
    auto wherePossible = [&](std::size_t k) { return !problem.layers[k].factorOptions.empty(); };
    auto whereFaster = [&](std::size_t k) {
      const Layer &layer = problem.layers[k];
      double inMergeClass = problem.mergeClasses[mergeClass].seconds(layer.bytes);
      return std::ranges::any_of(layer.factorOptions, [&](const FactorOption &factorOption) {
        return factorOption.seconds + factorOption.reconstruct < inMergeClass;
      });
    };
    for (const auto &choices : {layerwiseChoices(problem, mergeClass, never),
                                layerwiseChoices(problem, mergeClass, whereFaster),
                                layerwiseChoices(problem, mergeClass, wherePossible)}) {
      catalog(choices);
      catalog(joined(problem, choices));
    }
  }
  return best;
}

/// The problem with all schemes in one merge class. Nothing unless every layer may use every merge
/// class and all classes allow equally large buckets.
std::optional<Problem> inOneMergeClass(const Problem &problem) {
  std::uint32_t all = (1u << problem.mergeClasses.size()) - 1;
  if (problem.mergeClasses.size() == 1 ||
      std::ranges::any_of(problem.layers,
                          [&](const auto &layer) { return layer.mergeClasses != all; }))
    return std::nullopt;
  Problem merged = problem;
  merged.mergeClasses.resize(1);
  merged.mergeClasses[0].capacity = unlimited;
  for (std::size_t mergeClass = 1; mergeClass < problem.mergeClasses.size(); ++mergeClass) {
    if (problem.mergeClasses[mergeClass].largestMessage != merged.mergeClasses[0].largestMessage)
      return std::nullopt;
    std::ranges::copy(problem.mergeClasses[mergeClass].options,
                      std::back_inserter(merged.mergeClasses[0].options));
  }
  for (Layer &layer : merged.layers)
    layer.mergeClasses = 1;
  return merged;
}

/// Moves each bucket back to the merge class that has its scheme.
void returnToMergeClasses(const Problem &problem, Solution &plan) {
  for (Message &message : plan.messages)
    for (; !message.isFactors &&
           message.option >= problem.mergeClasses[message.mergeClass].options.size();
         ++message.mergeClass)
      message.option -= problem.mergeClasses[message.mergeClass].options.size();
}

} // namespace

Solution initialSolution(const Problem &problem) {
  Solution best = plainPlan(problem);
  std::optional<Problem> merged = inOneMergeClass(problem);
  if (!merged)
    return best;
  std::vector<Relaxation> relaxations = chooseRelaxations(*merged);
  for (std::size_t width : {24, 160}) {
    StateBound bound(*merged, relaxations, best.finish);
    LabelSearch search = searchLabels(*merged, bound, best.finish, width);
    if (search.choices) {
      Solution plan = replay(*merged, *search.choices);
      returnToMergeClasses(problem, plan);
      if (choicesAreSound(problem, choicesOf(problem, plan)))
        best = replay(problem, choicesOf(problem, plan));
    }
    if (!search.isCut)
      break;
  }
  return best;
}

} // namespace syncline::solver
