// Consistencies in virtual time, printed and written.
#pragma once

#include "frontend/driver/Simulate.h"
#include "frontend/report/SimulationReport.h"
#include "passes/simulate/ir/ReadScenario.h"

namespace syncline::driver {

/// Simulates a plan whose ranks have this consistency, and prints the result.
Status simulateConsistency(const SimulateOptions &options, const simulate::SimulatedPlan &plan,
                           cluster::SpecAttr cluster, const std::string &form,
                           const report::SimulationContext &context);

/// Prints a table of each of the options' lists of consistencies, and writes CSV and SVG.
Status sweepConsistencies(const SimulateOptions &options, const simulate::SimulatedPlan &plan,
                          cluster::SpecAttr cluster, const report::SimulationContext &context);

} // namespace syncline::driver
