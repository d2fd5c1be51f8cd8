// Poseidon, servers only, factors wherever possible, merging in one lane.
#include "passes/solver/SchemePlanners.h"

#include "passes/solver/Replay.h"

#include <algorithm>

namespace syncline::solver {

namespace {

/// One option of one lane.
struct Route {
  std::size_t lane = 0;
  std::size_t option = 0;
};

std::optional<Route> serverRoute(const JointProblem &problem) {
  for (std::size_t lane = 0; lane < problem.lanes.size(); ++lane)
    for (std::size_t i = 0; i < problem.lanes[lane].options.size(); ++i)
      if (problem.lanes[lane].options[i].scheme == Scheme::parameterServer)
        return Route{lane, i};
  return std::nullopt;
}

std::optional<std::size_t> factorsOption(const JointLayer &layer) {
  auto found = std::ranges::find(layer.solos, Scheme::factors, &SoloOption::scheme);
  if (found == layer.solos.end())
    return std::nullopt;
  return static_cast<std::size_t>(found - layer.solos.begin());
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

/// `held` is what the lane is to carry.
Status tooMuch(const Lane &lane, std::int64_t held) {
  return Status::badInput("expected '" + std::string(schemeName(lane.options[0].scheme)) +
                          "' to hold " + std::to_string(held) + " B, got room for " +
                          std::to_string(lane.capacity) + " B");
}

/// One rule for all three: by factors where `byFactors`, else alone by `route`.
Result<std::vector<Choice>>
chooseAll(const JointProblem &problem, Route route,
          const std::function<bool(std::size_t, const SoloOption &)> &byFactors) {
  std::vector<Choice> choices(problem.layers.size(),
                              {Choice::Kind::close, static_cast<std::uint8_t>(route.lane),
                               static_cast<std::uint8_t>(route.option)});
  const Lane &lane = problem.lanes[route.lane];
  for (std::size_t k = 0; k < choices.size(); ++k)
    if (auto option = factorsOption(problem.layers[k]);
        option && byFactors(k, problem.layers[k].solos[*option]))
      choices[k] = {Choice::Kind::solo, static_cast<std::uint8_t>(*option)};

  std::int64_t held = 0;
  for (std::size_t k = 0; k < choices.size(); ++k) {
    if (choices[k].kind == Choice::Kind::solo)
      continue;
    const JointLayer &layer = problem.layers[k];
    if (layer.carrier && choices[*layer.carrier].kind == Choice::Kind::solo) {
      choices[k] = {Choice::Kind::ride, 0};
      continue;
    }
    if (!problem.allows(k, route.lane))
      return cannotTravel(k, lane.options[route.option]);
    held += layer.bytes;
  }
  if (held > lane.capacity)
    return tooMuch(lane, held);
  return choices;
}

Status noServers() {
  return Status::badInput("needs parameter servers, which this cluster does not offer");
}

/// The lane's options that a system has; all where it may use any.
std::vector<std::size_t> optionsOf(const Lane &lane, std::span<const Scheme> system) {
  std::vector<std::size_t> usable;
  const bool isOnly = lane.options.size() == 1;
  for (std::size_t i = 0; i < lane.options.size(); ++i) {
    const Scheme scheme = lane.options[i].scheme;
    if (system.empty() || std::ranges::find(system, scheme) != system.end() ||
        (isOnly && scheme != Scheme::parameterServer))
      usable.push_back(i);
  }
  return usable;
}

Status lacksAllReduce(std::span<const Scheme> system) {
  std::string names;
  for (Scheme scheme : system)
    names += (names.empty() ? "'" : " or '") + std::string(schemeName(scheme)) + "'";
  return Status::badInput("expected " + names +
                          ", which is what it has, got a cluster that does not offer it");
}

/// The same groups, none larger than a message may be.
std::vector<std::size_t> cutToSize(const JointProblem &problem,
                                   const std::vector<std::size_t> &ends) {
  std::vector<std::size_t> cut;
  std::size_t k = 0;
  for (std::size_t end : ends) {
    std::int64_t bytes = 0;
    for (; k < end; ++k) {
      std::int64_t own = problem.layers[k].bytes;
      if (bytes > problem.lanes[0].largestMessage - own) {
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

Result<std::vector<Choice>> choicesInFirstLane(const JointProblem &problem,
                                               const LaneGroups &groups,
                                               std::span<const Scheme> system) {
  const Lane &lane = problem.lanes.front();
  const std::vector<std::size_t> usable = optionsOf(lane, system);
  if (usable.empty())
    return lacksAllReduce(system);
  MergeProblem alone;
  for (std::size_t option : usable)
    alone.options.push_back(lane.options[option]);
  std::int64_t total = 0;
  for (std::size_t k = 0; k < problem.layers.size(); ++k) {
    if (!problem.allows(k, 0))
      return problem.layers[k].lanes & 1 ? cannotTravel(k, alone.options.front()) : apart(k);
    alone.layers.push_back({problem.layers[k].bytes, problem.layers[k].ready});
    total += problem.layers[k].bytes;
  }
  if (total > lane.capacity)
    return tooMuch(lane, total);
  const std::vector<std::size_t> ends = cutToSize(problem, groups(alone));
  std::vector<Choice> choices = choicesOfGroups(problem, 0, ends);
  if (usable.size() == lane.options.size())
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

Result<std::vector<Choice>> poseidonChoices(const JointProblem &problem) {
  std::optional<Route> route = serverRoute(problem);
  if (!route)
    return noServers();
  double perByte = problem.lanes[route->lane].options[route->option].traffic;
  return chooseAll(problem, *route, [&](std::size_t k, const SoloOption &factors) {
    return factors.traffic <= perByte * static_cast<double>(problem.layers[k].bytes);
  });
}

Result<std::vector<Choice>> serverChoices(const JointProblem &problem) {
  std::optional<Route> route = serverRoute(problem);
  if (!route)
    return noServers();
  return chooseAll(problem, *route, [](std::size_t, const SoloOption &) { return false; });
}

Result<std::vector<Choice>> factorChoices(const JointProblem &problem) {
  if (std::ranges::none_of(
          problem.layers, [](const JointLayer &layer) { return factorsOption(layer).has_value(); }))
    return Status::badInput("no layer can travel by 'factors'");
  return chooseAll(problem, serverRoute(problem).value_or(Route{}),
                   [](std::size_t, const SoloOption &) { return true; });
}

std::vector<Choice> layerwiseChoices(const JointProblem &problem, std::size_t lane,
                                     const std::function<bool(std::size_t)> &goesAlone) {
  std::size_t n = problem.layers.size();
  std::optional<std::size_t> limited = problem.limitedLane();
  auto firstOther = [&](std::size_t k) -> std::optional<std::size_t> {
    for (std::size_t other = 0; other < problem.lanes.size(); ++other)
      if (other != limited && problem.allows(k, other))
        return other;
    return std::nullopt;
  };
  auto fastestSolo = [&](std::size_t k) {
    const std::vector<SoloOption> &solos = problem.layers[k].solos;
    auto fastest = std::ranges::min_element(solos, {}, &SoloOption::seconds);
    return Choice{Choice::Kind::solo, static_cast<std::uint8_t>(fastest - solos.begin())};
  };
  // Room that is left once the layers that have no other way are in.
  std::int64_t room = limited ? problem.lanes[*limited].capacity : 0;
  std::vector<bool> alone(n);
  for (std::size_t k = 0; k < n; ++k) {
    alone[k] = goesAlone(k);
    if (limited && problem.layers[k].solos.empty() && !firstOther(k) && !problem.isLaneless(k))
      room -= problem.layers[k].bytes;
  }

  std::vector<Choice> choices(n);
  for (std::size_t k = 0; k < n; ++k) {
    const JointLayer &layer = problem.layers[k];
    std::optional<std::size_t> other = firstOther(k);
    bool isCaptive = !other && layer.solos.empty();
    auto inLane = [](std::size_t l) {
      return Choice{Choice::Kind::close, static_cast<std::uint8_t>(l)};
    };
    if (alone[k])
      choices[k] = fastestSolo(k);
    else if (problem.allows(k, lane) && lane != limited)
      choices[k] = inLane(lane);
    else if (isCaptive) // riders without a lane: their carrier travels alone
      choices[k] = problem.isLaneless(k) ? Choice{Choice::Kind::ride, 0} : inLane(*limited);
    else if (lane == limited && problem.allows(k, lane) && layer.bytes <= room) {
      choices[k] = inLane(lane);
      room -= layer.bytes;
    } else
      choices[k] = other ? inLane(*other) : fastestSolo(k);
  }
  for (std::size_t k = 0; k < n; ++k)
    if (auto carrier = problem.layers[k].carrier; carrier &&
                                                  choices[k].kind != Choice::Kind::solo &&
                                                  choices[*carrier].kind == Choice::Kind::solo)
      choices[k] = {Choice::Kind::ride, 0};
  return choices;
}

} // namespace syncline::solver
