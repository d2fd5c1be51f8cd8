// Poseidon, servers only, factors wherever possible; and the registry of joint planners.
#include "passes/solver/joint/JointPlanners.h"

#include "passes/solver/joint/JointReplay.h"

#include <algorithm>

namespace syncline::solver {

namespace {

constexpr JointPlannerUsage usages[] = {
    {"optimal", "schemes and buckets together so that the step finishes first, proven"},
    {"poseidon", "every layer alone, by factors where they move fewer bytes than servers"},
    {"ps", "every layer alone, through sharded parameter servers"},
    {"sfb", "every layer alone, by sufficient factors wherever a layer can"},
};

/// One option of one lane.
struct Route {
  std::size_t lane = 0;
  std::size_t option = 0;
};

std::optional<Route> serverRoute(const JointProblem &problem) {
  for (std::size_t lane = 0; lane < problem.lanes.size(); ++lane)
    for (std::size_t i = 0; i < problem.lanes[lane].options.size(); ++i)
      if (problem.lanes[lane].options[i].scheme == SyncScheme::parameterServer)
        return Route{lane, i};
  return std::nullopt;
}

std::optional<std::size_t> factorsOption(const JointLayer &layer) {
  auto found = std::ranges::find(layer.solos, SyncScheme::factors, &SoloOption::scheme);
  if (found == layer.solos.end())
    return std::nullopt;
  return static_cast<std::size_t>(found - layer.solos.begin());
}

std::string gradient(std::size_t k) {
  return "layer " + std::to_string(k + 1) + " in backward order";
}

/// One rule for all three: by factors where `byFactors`, else alone by `route`.
Result<std::vector<Choice>>
chooseAll(const JointProblem &problem, std::string_view planner, Route route,
          const std::function<bool(std::size_t, const SoloOption &)> &byFactors) {
  std::string who = "planner '" + std::string(planner) + "': ";
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
      return Status::badInput(who + gradient(k) + " cannot travel by '" +
                              std::string(syncSchemeName(lane.options[route.option].scheme)) + "'");
    held += layer.bytes;
  }
  if (held > lane.capacity)
    return Status::badInput(who + "expected servers that hold " + std::to_string(held) +
                            " B, got " + std::to_string(lane.capacity) + " B");
  return choices;
}

Status noServers(std::string_view planner) {
  return Status::badInput("planner '" + std::string(planner) +
                          "' needs parameter servers, which this cluster does not have");
}

} // namespace

Result<std::vector<Choice>> poseidonChoices(const JointProblem &problem) {
  std::optional<Route> route = serverRoute(problem);
  if (!route)
    return noServers("poseidon");
  double perByte = problem.lanes[route->lane].options[route->option].traffic;
  return chooseAll(problem, "poseidon", *route, [&](std::size_t k, const SoloOption &factors) {
    return factors.traffic <= perByte * static_cast<double>(problem.layers[k].bytes);
  });
}

Result<std::vector<Choice>> serverChoices(const JointProblem &problem) {
  std::optional<Route> route = serverRoute(problem);
  if (!route)
    return noServers("ps");
  return chooseAll(problem, "ps", *route, [](std::size_t, const SoloOption &) { return false; });
}

Result<std::vector<Choice>> factorChoices(const JointProblem &problem) {
  if (std::ranges::none_of(
          problem.layers, [](const JointLayer &layer) { return factorsOption(layer).has_value(); }))
    return Status::badInput("planner 'sfb': no layer can travel by 'factors'");
  return chooseAll(problem, "sfb", serverRoute(problem).value_or(Route{}),
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
    if (limited && problem.layers[k].solos.empty() && !firstOther(k))
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
    else if (isCaptive)
      choices[k] = inLane(*limited);
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

std::span<const JointPlannerUsage> jointPlannerUsages() { return usages; }

Result<JointResult> planJointly(std::string_view planner, const JointProblem &problem,
                                const JointOptions &options) {
  if (planner == "optimal")
    return solveJoint(problem, options);
  Result<std::vector<Choice>> (*choose)(const JointProblem &) = nullptr;
  if (planner == "poseidon")
    choose = poseidonChoices;
  else if (planner == "ps")
    choose = serverChoices;
  else if (planner == "sfb")
    choose = factorChoices;
  if (!choose) {
    std::string known;
    for (const JointPlannerUsage &usage : usages)
      known += (known.empty() ? "" : ", ") + std::string(usage.name);
    return Status::error(ErrorKind::badUsage, "unknown planner '" + std::string(planner) +
                                                  "', expected one of " + known);
  }
  Result<std::vector<Choice>> choices = choose(problem);
  if (!choices)
    return choices.status();
  return withBound(problem, *choices, options);
}

} // namespace syncline::solver
