// Takes the choice from one gradient.
#include "passes/explain/Forcing.h"

#include <algorithm>

namespace syncline::explain {

using namespace solver;

namespace {

/// Where a layer finds a scheme: an option of a lane.
struct Route {
  std::size_t lane = 0;
  std::size_t option = 0;
};

std::optional<Route> laneRoute(const JointProblem &problem, std::size_t layer, Scheme scheme) {
  for (std::size_t lane = 0; lane < problem.lanes.size(); ++lane) {
    const std::vector<SchemeOption> &options = problem.lanes[lane].options;
    auto found = std::ranges::find(options, scheme, &SchemeOption::scheme);
    if (found != options.end() && problem.allows(layer, lane))
      return Route{lane, static_cast<std::size_t>(found - options.begin())};
  }
  return std::nullopt;
}

bool goesAloneBy(const JointLayer &layer, Scheme scheme) {
  return std::ranges::find(layer.solos, scheme, &SoloOption::scheme) != layer.solos.end();
}

/// The lane in which only this scheme is left; a new one, open to all who may use the old, where
/// the old has others too.
std::optional<std::size_t> laneOfItsOwn(JointProblem &problem, Route route) {
  const Lane &old = problem.lanes[route.lane];
  if (old.options.size() == 1)
    return route.lane;
  // What two lanes hold together no solver counts.
  if (problem.lanes.size() == maxLanes || old.capacity != unlimited)
    return std::nullopt;
  const std::size_t created = problem.lanes.size();
  Lane only{{old.options[route.option]}, old.largestMessage, unlimited};
  problem.lanes.push_back(std::move(only));
  for (JointLayer &layer : problem.layers)
    if (layer.lanes >> route.lane & 1)
      layer.lanes |= std::uint32_t{1} << created;
  return created;
}

} // namespace

std::vector<Scheme> offeredSchemes(const JointProblem &problem, std::size_t layer) {
  const JointLayer &asked = problem.layers[layer];
  std::vector<Scheme> schemes;
  for (Scheme scheme : allSchemes())
    if (laneRoute(problem, layer, scheme) || goesAloneBy(asked, scheme) ||
        (asked.carrier && goesAloneBy(problem.layers[*asked.carrier], scheme)))
      schemes.push_back(scheme);
  return schemes;
}

const JointMessage &messageOf(const JointProblem &problem, const JointPlan &plan,
                              std::size_t layer) {
  const bool rides = std::ranges::binary_search(plan.riders, layer);
  const std::size_t sent = rides ? *problem.layers[layer].carrier : layer;
  return *std::ranges::find_if(plan.messages, [&](const JointMessage &message) {
    return std::ranges::binary_search(message.layers, sent);
  });
}

Scheme schemeIn(const JointProblem &problem, const JointPlan &plan, std::size_t layer) {
  return plan.scheme(problem, messageOf(problem, plan, layer));
}

std::optional<JointProblem> forceScheme(const JointProblem &problem, std::size_t layer,
                                        Scheme scheme) {
  JointProblem forced = problem;
  JointLayer &asked = forced.layers[layer];
  std::optional<Route> route = laneRoute(problem, layer, scheme);
  if (!route && !goesAloneBy(asked, scheme)) {
    if (asked.carrier && goesAloneBy(problem.layers[*asked.carrier], scheme))
      return forceScheme(problem, *asked.carrier, scheme);
    return std::nullopt;
  }
  std::optional<std::size_t> lane;
  if (route && !(lane = laneOfItsOwn(forced, *route)))
    return std::nullopt;
  asked.lanes = lane ? std::uint32_t{1} << *lane : 0;
  asked.carrier.reset();
  std::erase_if(asked.solos, [&](const SoloOption &solo) { return solo.scheme != scheme; });
  if (asked.solos.empty())
    for (JointLayer &other : forced.layers)
      if (other.carrier == layer)
        other.carrier.reset();
  return forced;
}

} // namespace syncline::explain
