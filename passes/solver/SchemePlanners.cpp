// The rules of Poseidon, of servers only, of factors wherever possible, and of merging in
// one class.
#include "passes/solver/SchemePlanners.h"

#include "passes/solver/PlannerRows.h"
#include "passes/solver/Replay.h"

#include <algorithm>

namespace syncline::solver {

namespace {

/// A bucket of one layer, by this option of the merge class.
Choice alone(std::size_t mergeClass, std::size_t option) {
  return {Choice::Kind::bucket, static_cast<std::uint8_t>(mergeClass),
          static_cast<std::uint8_t>(option)};
}

/// The servers' option; badInput where there is none.
Result<Choice> byServers(const Problem &problem) {
  for (std::size_t mergeClass = 0; mergeClass < problem.mergeClasses.size(); ++mergeClass)
    for (std::size_t i = 0; i < problem.mergeClasses[mergeClass].options.size(); ++i)
      if (problem.mergeClasses[mergeClass].options[i].scheme == Scheme::parameterServer)
        return alone(mergeClass, i);
  return Status::badInput("needs parameter servers, which this cluster does not offer");
}

std::optional<std::size_t> factorsOption(const Layer &layer) {
  auto found = std::ranges::find_if(layer.factorOptions, isGathered, &FactorOption::scheme);
  if (found == layer.factorOptions.end())
    return std::nullopt;
  return static_cast<std::size_t>(found - layer.factorOptions.begin());
}

std::string gradient(std::size_t k) {
  return "layer " + std::to_string(k + 1) + " in backward order";
}

Status cannotTravel(std::size_t k, const SchemeOption &option) {
  return Status::badInput(gradient(k) + " cannot travel by '" +
                          std::string(schemeName(option.scheme)) + "'");
}

Status apart(std::size_t k) {
  return Status::badInput(gradient(k) +
                          " must travel otherwise than the first, and this planner sends all the "
                          "same way; planner 'optimal' does not");
}

/// An error: the merge class would have to hold `held` bytes.
Status tooMuch(const MergeClass &mergeClass, std::int64_t held) {
  return Status::badInput("expected '" + std::string(schemeName(mergeClass.options[0].scheme)) +
                          "' to hold " + std::to_string(held) + " B, got room for " +
                          std::to_string(mergeClass.capacity) + " B");
}

/// The rule that the planners share: factors where `byFactors` says so, else `other`, each
/// layer alone.
Result<std::vector<Choice>>
chooseAll(const Problem &problem, const Choice &other,
          const std::function<bool(std::size_t, const FactorOption &)> &byFactors) {
  std::vector<Choice> choices(problem.layers.size(), other);
  const MergeClass &mergeClass = problem.mergeClasses[other.index];
  for (std::size_t k = 0; k < choices.size(); ++k)
    if (auto option = factorsOption(problem.layers[k]);
        option && byFactors(k, problem.layers[k].factorOptions[*option]))
      choices[k] = {Choice::Kind::factors, static_cast<std::uint8_t>(*option)};

  std::int64_t held = 0;
  for (std::size_t k = 0; k < choices.size(); ++k) {
    if (choices[k].kind == Choice::Kind::factors)
      continue;
    const Layer &layer = problem.layers[k];
    if (layer.carrier && choices[*layer.carrier].kind == Choice::Kind::factors) {
      choices[k] = {Choice::Kind::piggyback, 0};
      continue;
    }
    if (!problem.allows(k, other.index))
      return cannotTravel(k, mergeClass.options[other.option]);
    held += layer.bytes;
  }
  if (held > mergeClass.capacity)
    return tooMuch(mergeClass, held);
  return choices;
}

/// The merge class's options that a system has; all options where `system` is empty.
std::vector<std::size_t> optionsOf(const MergeClass &mergeClass, std::span<const Scheme> system) {
  std::vector<std::size_t> usable;
  const bool isOnly = mergeClass.options.size() == 1;
  for (std::size_t i = 0; i < mergeClass.options.size(); ++i) {
    const Scheme scheme = mergeClass.options[i].scheme;
    if (system.empty() || std::ranges::find(system, scheme) != system.end() ||
        (isOnly && scheme != Scheme::parameterServer))
      usable.push_back(i);
  }
  return usable;
}

Status lacksAllReduce(std::span<const Scheme> system) {
  return Status::badInput("expected " + listOf(system) +
                          ", which is what it has, got a cluster that does not offer it");
}

/// Cuts groups so that none is larger than a message may be.
std::vector<std::size_t> cutToSize(const Problem &problem, const std::vector<std::size_t> &ends) {
  std::vector<std::size_t> cut;
  std::size_t k = 0;
  for (std::size_t end : ends) {
    std::int64_t bytes = 0;
    for (; k < end; ++k) {
      std::int64_t own = problem.layers[k].bytes;
      if (bytes > problem.mergeClasses[0].largestMessage - own) {
        cut.push_back(k);
        bytes = 0;
      }
      bytes += own;
    }
    cut.push_back(end);
  }
  return cut;
}

} // namespace

Result<std::vector<Choice>> choicesInFirstMergeClass(const Problem &problem,
                                                     const MergeClassGroups &groups,
                                                     std::span<const Scheme> system) {
  const MergeClass &mergeClass = problem.mergeClasses.front();
  const std::vector<std::size_t> usable = optionsOf(mergeClass, system);
  if (usable.empty())
    return lacksAllReduce(system);
  MergeProblem alone;
  for (std::size_t option : usable)
    alone.options.push_back(mergeClass.options[option]);
  std::int64_t total = 0;
  for (std::size_t k = 0; k < problem.layers.size(); ++k) {
    if (!problem.allows(k, 0))
      return problem.layers[k].mergeClasses & 1 ? cannotTravel(k, alone.options.front()) : apart(k);
    alone.layers.push_back({problem.layers[k].bytes, problem.layers[k].ready});
    total += problem.layers[k].bytes;
  }
  if (total > mergeClass.capacity)
    return tooMuch(mergeClass, total);
  const std::vector<std::size_t> ends = cutToSize(problem, groups(alone));
  std::vector<Choice> choices = choicesOfGroups(problem, 0, ends);
  if (usable.size() == mergeClass.options.size())
    return choices;
  const std::vector<std::int64_t> prefix = alone.prefixBytes();
  std::size_t first = 0;
  for (std::size_t end : ends) {
    const std::size_t best = alone.bestOption(prefix[end] - prefix[first]);
    choices[end - 1].option = static_cast<std::uint8_t>(usable[best]);
    first = end;
  }
  return choices;
}

Result<std::vector<Choice>> poseidonChoices(const Problem &problem) {
  SYNCLINE_TRY_GET(servers, byServers(problem));
  const double perByte = problem.mergeClasses[servers->index].options[servers->option].traffic;
  return chooseAll(problem, *servers, [&](std::size_t k, const FactorOption &factors) {
    return factors.traffic <= perByte * static_cast<double>(problem.layers[k].bytes);
  });
}

Result<std::vector<Choice>> serverChoices(const Problem &problem) {
  SYNCLINE_TRY_GET(servers, byServers(problem));
  return chooseAll(problem, *servers, [](std::size_t, const FactorOption &) { return false; });
}

Result<std::vector<Choice>> factorChoices(const Problem &problem) {
  if (std::ranges::none_of(problem.layers,
                           [](const Layer &layer) { return factorsOption(layer).has_value(); }))
    return Status::badInput("no layer can travel by 'factors'");
  const Result<Choice> servers = byServers(problem);
  return chooseAll(problem, servers ? *servers : alone(0, 0),
                   [](std::size_t, const FactorOption &) { return true; });
}

std::vector<Choice> layerwiseChoices(const Problem &problem, std::size_t mergeClass,
                                     const std::function<bool(std::size_t)> &sendsFactors) {
  std::size_t n = problem.layers.size();
  std::optional<std::size_t> limited = problem.limitedMergeClass();
  auto firstOther = [&](std::size_t k) -> std::optional<std::size_t> {
    for (std::size_t other = 0; other < problem.mergeClasses.size(); ++other)
      if (other != limited && problem.allows(k, other))
        return other;
    return std::nullopt;
  };
  auto fastestFactorOption = [&](std::size_t k) {
    const std::vector<FactorOption> &factorOptions = problem.layers[k].factorOptions;
    return Choice{
        Choice::Kind::factors,
        static_cast<std::uint8_t>(&problem.layers[k].fastestFactors() - factorOptions.data())};
  };
  // The room that remains beside the layers that have no other merge class or option.
  std::int64_t room = limited ? problem.mergeClasses[*limited].capacity : 0;
  std::vector<bool> byFactors(n);
  for (std::size_t k = 0; k < n; ++k) {
    byFactors[k] = sendsFactors(k);
    if (limited && problem.layers[k].factorOptions.empty() && !firstOther(k) &&
        !problem.hasNoMergeClass(k))
      room -= problem.layers[k].bytes;
  }

  std::vector<Choice> choices(n);
  for (std::size_t k = 0; k < n; ++k) {
    const Layer &layer = problem.layers[k];
    std::optional<std::size_t> other = firstOther(k);
    bool isCaptive = !other && layer.factorOptions.empty();
    auto inMergeClass = [](std::size_t l) {
      return Choice{Choice::Kind::bucket, static_cast<std::uint8_t>(l)};
    };
    if (byFactors[k])
      choices[k] = fastestFactorOption(k);
    else if (problem.allows(k, mergeClass) && mergeClass != limited)
      choices[k] = inMergeClass(mergeClass);
    else if (isCaptive) // a piggyback without a merge class: its carrier sends factors
      choices[k] =
          problem.hasNoMergeClass(k) ? Choice{Choice::Kind::piggyback, 0} : inMergeClass(*limited);
    else if (mergeClass == limited && problem.allows(k, mergeClass) && layer.bytes <= room) {
      choices[k] = inMergeClass(mergeClass);
      room -= layer.bytes;
    } else
      choices[k] = other ? inMergeClass(*other) : fastestFactorOption(k);
  }
  for (std::size_t k = 0; k < n; ++k)
    if (auto carrier = problem.layers[k].carrier; carrier &&
                                                  choices[k].kind != Choice::Kind::factors &&
                                                  choices[*carrier].kind == Choice::Kind::factors)
      choices[k] = {Choice::Kind::piggyback, 0};
  return choices;
}

std::vector<PlannerRow> schemePlanners() {
  return {
      {{"poseidon", "every layer alone, by factors where they move fewer bytes than servers"},
       always(MergeRule(poseidonChoices))},
      {{"ps", "every layer alone, through sharded parameter servers"},
       always(MergeRule(serverChoices))},
      {{"sfb", "every layer alone, by sufficient factors wherever a layer can"},
       always(MergeRule(factorChoices))},
  };
}

} // namespace syncline::solver
