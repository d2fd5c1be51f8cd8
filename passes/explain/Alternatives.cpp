// Replays a plan with one message changed, and searches anew with one scheme given.
#include "passes/explain/Alternatives.h"

#include "passes/explain/Forcing.h"
#include "passes/solver/Replay.h"

#include <algorithm>

namespace syncline::explain {

using namespace solver;

namespace {

/// What the layer may travel by in this scheme: a lane's option, or one of its ways to go alone.
const SchemeOption *laneOption(const JointProblem &problem, std::size_t layer, Scheme scheme) {
  for (std::size_t lane = 0; lane < problem.lanes.size(); ++lane)
    if (problem.allows(layer, lane))
      for (const SchemeOption &option : problem.lanes[lane].options)
        if (option.scheme == scheme)
          return &option;
  return nullptr;
}

const SoloOption *soloOption(const JointProblem &problem, std::size_t layer, Scheme scheme) {
  for (const SoloOption &solo : problem.layers[layer].solos)
    if (solo.scheme == scheme)
      return &solo;
  return nullptr;
}

/// Takes layers out of their buckets: the last member that stays closes what a leaving one closed.
void leaveBuckets(std::vector<Choice> &choices, const std::vector<std::size_t> &leaving) {
  for (std::size_t layer : leaving) {
    const Choice left = choices[layer];
    choices[layer] = {Choice::Kind::ride, 0};
    if (left.kind != Choice::Kind::close)
      continue;
    for (std::size_t k = layer; k-- > 0;) {
      const bool isOfLane =
          (choices[k].kind == Choice::Kind::join || choices[k].kind == Choice::Kind::close) &&
          choices[k].index == left.index;
      if (!isOfLane)
        continue;
      if (choices[k].kind == Choice::Kind::join)
        choices[k] = left;
      break; // a bucket that is closed already had lost all its members
    }
  }
}

/// The plan with these layers (ascending) in a message of their own, and when they exist then.
Trip sendTogether(JointProblem problem, const JointPlan &plan, std::vector<std::size_t> layers,
                  const SoloOption &how) {
  std::vector<Choice> choices = choicesOf(problem, plan);
  // Whoever rode with one of them needs a message now; a rider by factors rides on.
  if (how.scheme != Scheme::factors)
    for (std::size_t rider : plan.riders)
      if (std::ranges::binary_search(layers, *problem.layers[rider].carrier))
        layers.push_back(rider);
  std::ranges::sort(layers);
  leaveBuckets(choices, layers);
  // Those that ride need no clock: the last of them stands for all.
  const std::size_t last = layers.back();
  choices[last] = {Choice::Kind::solo,
                   static_cast<std::uint8_t>(problem.layers[last].solos.size())};
  problem.layers[last].solos.push_back(how);
  const JointPlan changed = replay(problem, choices);
  return {how.seconds, how.rebuild, how.traffic, messageOf(problem, changed, last).rebuilt};
}

/// A merging scheme as a way to send so many bytes at once.
SoloOption asSolo(const SchemeOption &option, std::int64_t bytes) {
  return {option.scheme, option.cost->seconds(bytes), 0, option.bytesMoved(bytes)};
}

/// The bytes of the layer and of those that ride with it.
std::int64_t bytesWithRiders(const JointProblem &problem, const JointPlan &plan,
                             std::size_t layer) {
  std::int64_t bytes = problem.layers[layer].bytes;
  for (std::size_t rider : plan.riders)
    if (problem.layers[rider].carrier == layer)
      bytes += problem.layers[rider].bytes;
  return bytes;
}

Trip tripAlone(const JointProblem &problem, const JointPlan &plan, std::size_t layer,
               Scheme scheme) {
  if (const SchemeOption *option = laneOption(problem, layer, scheme))
    return sendTogether(problem, plan, {layer},
                        asSolo(*option, bytesWithRiders(problem, plan, layer)));
  if (const SoloOption *solo = soloOption(problem, layer, scheme))
    return sendTogether(problem, plan, {layer}, *solo);
  // A rider: with its carrier, which is sent so if it was not.
  return tripAlone(problem, plan, *problem.layers[layer].carrier, scheme);
}

std::optional<Trip> tripOfBucket(const JointProblem &problem, const JointPlan &plan,
                                 std::size_t layer, Scheme scheme) {
  const JointMessage &message = messageOf(problem, plan, layer);
  const SchemeOption *option = laneOption(problem, layer, scheme);
  if (message.isSolo || message.layers.size() == 1 || !option)
    return std::nullopt;
  return sendTogether(problem, plan, message.layers, asSolo(*option, message.bytes));
}

} // namespace

double finishOf(const JointProblem &problem, const JointPlan &plan) {
  return std::max(plan.finish, problem.computeFree);
}

std::vector<Alternative> alternativesOf(const JointProblem &problem, const JointPlan &plan,
                                        std::size_t layer, const JointOptions &options) {
  const Scheme chosen = schemeIn(problem, plan, layer);
  std::vector<Alternative> alternatives;
  for (Scheme scheme : offeredSchemes(problem, layer)) {
    Alternative alternative{.scheme = scheme, .isChosen = scheme == chosen};
    alternative.alone = tripAlone(problem, plan, layer, scheme);
    alternative.bucket = tripOfBucket(problem, plan, layer, scheme);
    if (std::optional<JointProblem> forced = forceScheme(problem, layer, scheme))
      alternative.finish = finishOf(*forced, solveJoint(*forced, options).plan);
    if (alternative.isChosen)
      alternative.finish =
          std::min(alternative.finish.value_or(finishOf(problem, plan)), finishOf(problem, plan));
    alternatives.push_back(alternative);
  }
  return alternatives;
}

} // namespace syncline::explain
