// Small scenarios for tests.
#pragma once

#include "passes/simulate/Simulation.h"

namespace syncline::simulate {

/// A rate in round numbers, so that times can be read off.
inline constexpr problem::LinkRates slowLink{2e-3, 1e-6, 2.5e-7};

/// One message alone, from time 0, on `ranks` ranks with a link each.
inline Scenario oneMessage(Scheme scheme, std::int64_t bytes, int ranks) {
  Scenario scenario;
  scenario.operations = {{.kind = Operation::Kind::issue, .message = 0},
                         {.kind = Operation::Kind::wait, .message = 0}};
  scenario.messages = {{.name = "m", .scheme = scheme, .bytes = bytes}};
  scenario.machines = {.ranks = ranks, .network = slowLink};
  return scenario;
}

/// Forward 1 s, backward 2 s with a message of `seconds` after the first, then its update.
inline Scenario barrierScene(Scatter scatter, int ranks, double seconds, double update) {
  using Kind = Operation::Kind;
  Scenario scenario;
  scenario.operations = {
      {.kind = Kind::compute, .phase = Phase::forward, .layer = "f", .seconds = 1},
      {.kind = Kind::compute, .phase = Phase::backward, .layer = "b1", .seconds = 1},
      {.kind = Kind::issue, .phase = Phase::backward, .message = 0},
      {.kind = Kind::compute, .phase = Phase::backward, .layer = "b2", .seconds = 1},
      {.kind = Kind::wait, .phase = Phase::update, .message = 0},
      {.kind = Kind::update, .phase = Phase::update, .seconds = update, .message = 0}};
  scenario.messages = {{.name = "m",
                        .bytes = 2'000'000,
                        .cost = std::make_shared<problem::AffineCost>(seconds, 0),
                        .isStated = true}};
  scenario.machines.ranks = ranks;
  scenario.scatter = std::move(scatter);
  return scenario;
}

/// Gives one rank a slowdown, so that ranks are not merged by symmetry. Operations take no time, so
/// the slowdown changes no times.
inline Scenario unfolded(Scenario scenario) {
  scenario.machines.slowdown.assign(static_cast<std::size_t>(scenario.machines.ranks), 1);
  scenario.machines.slowdown.back() = 2;
  return scenario;
}

/// When everything is over, seconds.
inline double endOf(const Scenario &scenario) {
  Result<Simulation> simulation = runScenario(scenario);
  return simulation ? simulation->stepEnd(scenario.steps - 1) : -1;
}

} // namespace syncline::simulate
