// Exhaustive search over choices.
#include "tests/reference/solver/ExhaustiveSearch.h"

#include "passes/solver/Replay.h"

#include <algorithm>

namespace syncline::reference {

using namespace solver;

namespace {

/// The layer joins the class's bucket, or closes it: by the fastest option, or by any one where
/// messages take computation.
void addBucket(const Problem &problem, std::uint8_t mergeClass, std::vector<Choice> &choices) {
  const std::vector<SchemeOption> &options = problem.mergeClasses[mergeClass].options;
  const bool slows = std::ranges::any_of(
      options, [](const SchemeOption &option) { return option.lost != nullptr; });
  if (!slows)
    choices.push_back({Choice::Kind::bucket, mergeClass});
  for (std::size_t i = 0; slows && i < options.size(); ++i)
    choices.push_back({Choice::Kind::bucket, mergeClass, static_cast<std::uint8_t>(i)});
  choices.push_back({Choice::Kind::join, mergeClass});
}

/// What a layer might do, whatever the others do.
std::vector<std::vector<Choice>> choicesPerLayer(const Problem &problem) {
  std::vector<std::vector<Choice>> all(problem.layers.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    for (std::size_t mergeClass = 0; mergeClass < problem.mergeClasses.size(); ++mergeClass)
      if (problem.allows(k, mergeClass))
        addBucket(problem, static_cast<std::uint8_t>(mergeClass), all[k]);
    for (std::size_t i = 0; i < problem.layers[k].factorOptions.size(); ++i)
      all[k].push_back({Choice::Kind::factors, static_cast<std::uint8_t>(i)});
    if (problem.layers[k].carrier)
      all[k].push_back({Choice::Kind::piggyback, 0});
  }
  return all;
}

} // namespace

std::int64_t countChoices(const Problem &problem) {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  std::int64_t count = 1;
  for (const std::vector<Choice> &choices : choicesPerLayer(problem)) {
    auto factor = static_cast<std::int64_t>(choices.size());
    count = factor > 0 && count > most / factor ? most : count * factor;
  }
  return count;
}

void forEachSoundChoices(const Problem &problem,
                         const std::function<void(std::span<const Choice>)> &visit) {
  std::vector<std::vector<Choice>> all = choicesPerLayer(problem);
  std::vector<std::size_t> digits(all.size(), 0);
  std::vector<Choice> choices(all.size());
  while (true) {
    for (std::size_t k = 0; k < all.size(); ++k)
      choices[k] = all[k][digits[k]];
    if (choicesAreSound(problem, choices))
      visit(choices);
    std::size_t k = 0;
    while (k < all.size() && ++digits[k] == all[k].size())
      digits[k++] = 0;
    if (k == all.size())
      return;
  }
}

std::optional<Solution> exhaustiveSolution(const Problem &problem, std::size_t maxMessages) {
  std::optional<Solution> best;
  forEachSoundChoices(problem, [&](std::span<const Choice> choices) {
    if (Solution plan = replay(problem, choices);
        plan.messages.size() <= maxMessages && (!best || plan.finish < best->finish))
      best = std::move(plan);
  });
  return best;
}

} // namespace syncline::reference
