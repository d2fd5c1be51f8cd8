// Requests a scheme for one gradient.
#include "passes/explain/SchemeRequest.h"

#include <algorithm>

namespace syncline::explain {

using namespace problem;

namespace {

/// A merge class's option by which a layer can use a scheme.
struct Route {
  std::size_t mergeClass = 0;
  std::size_t option = 0;
};

std::optional<Route> mergeClassRoute(const Problem &problem, std::size_t layer, Scheme scheme) {
  for (std::size_t mergeClass = 0; mergeClass < problem.mergeClasses.size(); ++mergeClass) {
    const std::vector<SchemeOption> &options = problem.mergeClasses[mergeClass].options;
    auto found = std::ranges::find(options, scheme, &SchemeOption::scheme);
    if (found != options.end() && problem.allows(layer, mergeClass))
      return Route{mergeClass, static_cast<std::size_t>(found - options.begin())};
  }
  return std::nullopt;
}

bool hasFactorOption(const Layer &layer, Scheme scheme) {
  return std::ranges::find(layer.factorOptions, scheme, &FactorOption::scheme) !=
         layer.factorOptions.end();
}

/// A merge class that has only the route's scheme: the route's own where it has no other, else a
/// new class that every layer of the old one may use. Nothing where no class can be added.
std::optional<std::size_t> mergeClassOfItsOwn(Problem &problem, Route route) {
  const MergeClass &old = problem.mergeClasses[route.mergeClass];
  if (old.options.size() == 1)
    return route.mergeClass;
  // Solvers cannot count a capacity that two merge classes share.
  if (problem.mergeClasses.size() == maxMergeClasses || old.capacity != unlimited)
    return std::nullopt;
  const std::size_t created = problem.mergeClasses.size();
  MergeClass only{{old.options[route.option]}, old.largestMessage, unlimited};
  problem.mergeClasses.push_back(std::move(only));
  for (Layer &layer : problem.layers)
    if (layer.mergeClasses >> route.mergeClass & 1)
      layer.mergeClasses |= std::uint32_t{1} << created;
  return created;
}

} // namespace

std::vector<Scheme> offeredSchemes(const Problem &problem, std::size_t layer) {
  const Layer &own = problem.layers[layer];
  std::vector<Scheme> schemes;
  for (Scheme scheme : allSchemes())
    if (mergeClassRoute(problem, layer, scheme) || hasFactorOption(own, scheme) ||
        (own.carrier && hasFactorOption(problem.layers[*own.carrier], scheme)))
      schemes.push_back(scheme);
  return schemes;
}

const Message &messageOf(const Problem &problem, const Solution &plan, std::size_t layer) {
  const bool isPiggyback = std::ranges::binary_search(plan.piggybacks, layer);
  const std::size_t sent = isPiggyback ? *problem.layers[layer].carrier : layer;
  return *std::ranges::find_if(plan.messages, [&](const Message &message) {
    return std::ranges::binary_search(message.layers, sent);
  });
}

Scheme schemeIn(const Problem &problem, const Solution &plan, std::size_t layer) {
  return plan.scheme(problem, messageOf(problem, plan, layer));
}

std::optional<Problem> requestScheme(const Problem &problem, std::size_t layer, Scheme scheme) {
  Problem requested = problem;
  Layer &target = requested.layers[layer];
  std::optional<Route> route = mergeClassRoute(problem, layer, scheme);
  if (!route && !hasFactorOption(target, scheme)) {
    if (target.carrier && hasFactorOption(problem.layers[*target.carrier], scheme))
      return requestScheme(problem, *target.carrier, scheme);
    return std::nullopt;
  }
  std::optional<std::size_t> mergeClass;
  if (route && !(mergeClass = mergeClassOfItsOwn(requested, *route)))
    return std::nullopt;
  target.mergeClasses = mergeClass ? std::uint32_t{1} << *mergeClass : 0;
  target.carrier.reset();
  std::erase_if(target.factorOptions,
                [&](const FactorOption &factorOption) { return factorOption.scheme != scheme; });
  if (target.factorOptions.empty())
    for (Layer &other : requested.layers)
      if (other.carrier == layer)
        other.carrier.reset();
  return requested;
}

} // namespace syncline::explain
