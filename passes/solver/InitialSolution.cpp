// Plain plans and the search in one lane.
#include "passes/solver/InitialSolution.h"

#include "passes/solver/SchemePlanners.h"
#include "passes/solver/Replay.h"
#include "passes/solver/Labels.h"
#include "passes/solver/StateBound.h"

#include <algorithm>

namespace syncline::solver {

namespace {

/// Neighbouring layers of a lane in one bucket, as far as its limit allows: choices that send every
/// layer alone become ones that send as few messages as they can.
std::vector<Choice> joined(const JointProblem &problem, std::vector<Choice> choices) {
  std::array<std::optional<std::size_t>, maxLanes> last;
  std::array<std::int64_t, maxLanes> bytes{};
  for (std::size_t k = 0; k < choices.size(); ++k) {
    if (choices[k].kind != Choice::Kind::close)
      continue;
    std::size_t lane = choices[k].index;
    std::int64_t own = problem.layers[k].bytes;
    if (last[lane] && bytes[lane] + own <= problem.lanes[lane].largestMessage)
      choices[*last[lane]].kind = Choice::Kind::join;
    else
      bytes[lane] = 0;
    bytes[lane] += own;
    last[lane] = k;
  }
  return choices;
}

/// The best of a few plain plans.
JointPlan plainPlan(const JointProblem &problem) {
  JointPlan best;
  best.finish = std::numeric_limits<double>::infinity();
  auto offer = [&](const std::vector<Choice> &choices) {
    if (JointPlan plan = replay(problem, choices); plan.finish < best.finish)
      best = std::move(plan);
  };
  for (std::size_t lane = 0; lane < problem.lanes.size(); ++lane) {
    auto never = [](std::size_t) { return false; };
    auto wherePossible = [&](std::size_t k) { return !problem.layers[k].solos.empty(); };
    auto whereFaster = [&](std::size_t k) {
      const JointLayer &layer = problem.layers[k];
      double inLane = problem.lanes[lane].seconds(layer.bytes);
      return std::ranges::any_of(layer.solos, [&](const SoloOption &solo) {
        return solo.seconds + solo.rebuild < inLane;
      });
    };
    for (const auto &choices :
         {layerwiseChoices(problem, lane, never), layerwiseChoices(problem, lane, whereFaster),
          layerwiseChoices(problem, lane, wherePossible)}) {
      offer(choices);
      offer(joined(problem, choices));
    }
  }
  return best;
}

/// All lanes' schemes in one lane, where every layer may use every lane and any bucket may be as
/// large in each.
std::optional<JointProblem> inOneLane(const JointProblem &problem) {
  std::uint32_t all = (1u << problem.lanes.size()) - 1;
  if (problem.lanes.size() == 1 ||
      std::ranges::any_of(problem.layers, [&](const auto &layer) { return layer.lanes != all; }))
    return std::nullopt;
  JointProblem merged = problem;
  merged.lanes.resize(1);
  merged.lanes[0].capacity = unlimited;
  for (std::size_t lane = 1; lane < problem.lanes.size(); ++lane) {
    if (problem.lanes[lane].largestMessage != merged.lanes[0].largestMessage)
      return std::nullopt;
    std::ranges::copy(problem.lanes[lane].options, std::back_inserter(merged.lanes[0].options));
  }
  for (JointLayer &layer : merged.layers)
    layer.lanes = 1;
  return merged;
}

/// Each bucket back to the lane that offers its scheme.
void returnToLanes(const JointProblem &problem, JointPlan &plan) {
  for (JointMessage &message : plan.messages)
    for (; !message.isSolo && message.option >= problem.lanes[message.lane].options.size();
         ++message.lane)
      message.option -= problem.lanes[message.lane].options.size();
}

} // namespace

JointPlan startingPlan(const JointProblem &problem) {
  JointPlan best = plainPlan(problem);
  std::optional<JointProblem> merged = inOneLane(problem);
  if (!merged)
    return best;
  std::vector<Relaxation> relaxations = chooseRelaxations(*merged);
  for (std::size_t width : {24, 160}) {
    StateBound bound(*merged, relaxations, best.finish);
    LabelSearch search = searchLabels(*merged, bound, best.finish, width);
    if (search.choices) {
      JointPlan plan = replay(*merged, *search.choices);
      returnToLanes(problem, plan);
      if (choicesAreSound(problem, choicesOf(problem, plan)))
        best = replay(problem, choicesOf(problem, plan));
    }
    if (!search.isCut)
      break;
  }
  return best;
}

} // namespace syncline::solver
