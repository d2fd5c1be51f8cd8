// A simulation as text for people and as JSON.
#pragma once

#include "frontend/report/LateRanks.h"
#include "frontend/report/Stragglers.h"
#include "frontend/report/Throughput.h"
#include "passes/simulate/Simulation.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace syncline::report {

/// Facts for the report that a simulation does not know.
struct SimulationContext {
  std::string plan;         ///< for people
  std::string hash;         ///< the plan's hash
  std::string cluster;      ///< the cluster's name
  bool isElsewhere = false; ///< another cluster than the plan's, or ranks that differ
  double predicted = 0;     ///< the plan's step, seconds
  std::optional<std::int64_t> samples = {}; ///< samples of one rank in a micro-batch, where known
  std::int64_t microBatches = 1;            ///< micro-batches of a step
  double alone = 0;                         ///< seconds of one device's step that sends nothing
  std::string provenance = {};              ///< whole lines: where times come from
  std::optional<Stragglers> stragglers = {};
  std::optional<LateRanks> lateRanks = {}; ///< of a plan whose messages travel in an order
};

/// The step and what is exposed of it, samples a second, what slow ranks cost, where times come
/// from, how busy every kind of resource is, and the critical path, neighbouring operations of a
/// phase taken together.
std::string simulationReport(const simulate::Scenario &scenario,
                             const simulate::Simulation &simulation,
                             const SimulationContext &context);

/// Every number of the simulation as JSON; README.md lists the keys.
nlohmann::json simulationJson(const simulate::Scenario &scenario,
                              const simulate::Simulation &simulation,
                              const SimulationContext &context);

} // namespace syncline::report
