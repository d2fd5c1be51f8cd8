// Replays a plan with one message changed, and solves the problem again with one scheme requested.
#include "passes/explain/Alternatives.h"

#include "passes/explain/SchemeRequest.h"
#include "passes/problem/Interference.h"
#include "passes/solver/Replay.h"

#include <algorithm>

namespace syncline::explain {

using namespace problem;
using namespace solver;

namespace {

/// The merge class's option by which the layer may use this scheme; null where there is none.
const SchemeOption *mergeClassOption(const Problem &problem, std::size_t layer, Scheme scheme) {
  for (std::size_t mergeClass = 0; mergeClass < problem.mergeClasses.size(); ++mergeClass)
    if (problem.allows(layer, mergeClass))
      for (const SchemeOption &option : problem.mergeClasses[mergeClass].options)
        if (option.scheme == scheme)
          return &option;
  return nullptr;
}

const FactorOption *optionByFactors(const Problem &problem, std::size_t layer, Scheme scheme) {
  for (const FactorOption &factorOption : problem.layers[layer].factorOptions)
    if (factorOption.scheme == scheme)
      return &factorOption;
  return nullptr;
}

/// Takes layers out of their buckets. Where such a layer closed its bucket, the last member that
/// stays closes it instead.
void leaveBuckets(std::vector<Choice> &choices, const std::vector<std::size_t> &leaving) {
  for (std::size_t layer : leaving) {
    const Choice left = choices[layer];
    choices[layer] = {Choice::Kind::piggyback, 0};
    if (left.kind != Choice::Kind::bucket)
      continue;
    for (std::size_t k = layer; k-- > 0;) {
      const bool isOfMergeClass =
          (choices[k].kind == Choice::Kind::join || choices[k].kind == Choice::Kind::bucket) &&
          choices[k].index == left.index;
      if (!isOfMergeClass)
        continue;
      if (choices[k].kind == Choice::Kind::join)
        choices[k] = left;
      break; // a bucket that is closed before has lost all its members
    }
  }
}

/// The cost of the plan with these layers (ascending) in a message of their own.
MessageCost sendTogether(Problem problem, const Solution &plan, std::vector<std::size_t> layers,
                         const FactorOption &how) {
  std::vector<Choice> choices = choicesOf(problem, plan);
  // A piggyback of one of these layers needs a message now, unless the carrier still sends factors.
  if (!isGathered(how.scheme))
    for (std::size_t piggyback : plan.piggybacks)
      if (std::ranges::binary_search(layers, *problem.layers[piggyback].carrier))
        layers.push_back(piggyback);
  std::ranges::sort(layers);
  leaveBuckets(choices, layers);
  // The last layer's message stands for all; the replay counts the others as piggybacks.
  const std::size_t last = layers.back();
  choices[last] = {Choice::Kind::factors,
                   static_cast<std::uint8_t>(problem.layers[last].factorOptions.size())};
  problem.layers[last].factorOptions.push_back(how);
  const Solution changed = replay(problem, choices);
  return {how.seconds, how.reconstruct, how.traffic,
          messageOf(problem, changed, last).reconstructed};
}

/// A merging scheme as a way to send so many bytes in one message.
FactorOption asFactors(const Problem &problem, const SchemeOption &option, std::int64_t bytes) {
  return {option.scheme,
          option.cost->seconds(bytes),
          0,
          option.bytesMoved(bytes),
          0,
          option.lostSeconds(bytes),
          lossOf(problem, option, bytes)};
}

/// The bytes of the layer and of its piggybacks.
std::int64_t bytesWithPiggybacks(const Problem &problem, const Solution &plan, std::size_t layer) {
  std::int64_t bytes = problem.layers[layer].bytes;
  for (std::size_t piggyback : plan.piggybacks)
    if (problem.layers[piggyback].carrier == layer)
      bytes += problem.layers[piggyback].bytes;
  return bytes;
}

MessageCost costAlone(const Problem &problem, const Solution &plan, std::size_t layer,
                      Scheme scheme) {
  if (const SchemeOption *option = mergeClassOption(problem, layer, scheme))
    return sendTogether(problem, plan, {layer},
                        asFactors(problem, *option, bytesWithPiggybacks(problem, plan, layer)));
  if (const FactorOption *factorOption = optionByFactors(problem, layer, scheme))
    return sendTogether(problem, plan, {layer}, *factorOption);
  // A piggyback goes with its carrier, whose factors are sent even where the plan did not
  // send them.
  return costAlone(problem, plan, *problem.layers[layer].carrier, scheme);
}

std::optional<MessageCost> costOfBucket(const Problem &problem, const Solution &plan,
                                        std::size_t layer, Scheme scheme) {
  const Message &message = messageOf(problem, plan, layer);
  const SchemeOption *option = mergeClassOption(problem, layer, scheme);
  if (message.isFactors || message.layers.size() == 1 || !option)
    return std::nullopt;
  return sendTogether(problem, plan, message.layers, asFactors(problem, *option, message.bytes));
}

} // namespace

double finishOf(const Problem &problem, const Solution &plan) {
  return std::max(plan.finish, problem.computeFree);
}

std::vector<Alternative> alternativesOf(const Problem &problem, const Solution &plan,
                                        std::size_t layer, const SolverOptions &options) {
  const Scheme chosen = schemeIn(problem, plan, layer);
  std::vector<Alternative> alternatives;
  for (Scheme scheme : offeredSchemes(problem, layer)) {
    Alternative alternative{.scheme = scheme, .isChosen = scheme == chosen};
    alternative.alone = costAlone(problem, plan, layer, scheme);
    alternative.bucket = costOfBucket(problem, plan, layer, scheme);
    if (std::optional<Problem> requested = requestScheme(problem, layer, scheme))
      alternative.finish = finishOf(*requested, solve(*requested, options).plan);
    if (alternative.isChosen)
      alternative.finish =
          std::min(alternative.finish.value_or(finishOf(problem, plan)), finishOf(problem, plan));
    alternatives.push_back(alternative);
  }
  return alternatives;
}

} // namespace syncline::explain
