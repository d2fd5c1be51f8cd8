// Workers for tests of consistencies.
#pragma once

#include "passes/simulate/consistency/WorkerSimulation.h"

namespace syncline::simulate {

using Form = Consistency::Form;
using Elastic = Consistency::Elastic;

/// Workers with these slowdowns. A step takes 10 s without slowdown; messages take no time.
inline WorkerScenario workersOf(std::vector<double> slowdown, const Consistency &consistency) {
  WorkerScenario scenario;
  scenario.consistency = consistency;
  scenario.machines = {.ranks = static_cast<int>(slowdown.size()),
                       .network = problem::LinkRates{},
                       .slowdown = std::move(slowdown)};
  scenario.step = 10;
  scenario.exchanges.assign(static_cast<std::size_t>(consistency.fragments), 0.0);
  return scenario;
}

/// These workers with weights of 1 GB that take 3 s on a worker's link, and two servers whose links
/// take 1 s for all weights together.
inline WorkerScenario withLinks(WorkerScenario scenario) {
  scenario.bytes = 1'000'000'000;
  scenario.machines.network = problem::LinkRates{.secondsPerByte = 3e-9};
  scenario.machines.dedicated = true;
  scenario.machines.servers = 2;
  scenario.machines.serverLink = {.secondsPerByte = 2e-9};
  return scenario;
}

} // namespace syncline::simulate
