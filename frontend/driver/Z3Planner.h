// The planner "z3:messages=N": the passes know its name, and the driver gives it Z3.
#pragma once

#include "passes/solver/Planner.h"

#include <memory>

namespace syncline::driver {

/// Time that Z3 may take for an answer, seconds: of problems that it answers at all it answers most
/// in far less.
inline constexpr double z3Seconds = 60;

/// The planner with the name and the limit of `named`, which asks Z3 where our own algorithms leave
/// the best plan open. Its plan() returns badInput where no plan has so few messages, and where Z3
/// has no answer within `seconds` or takes no problem of that size (z3judge::maxAskedLayers).
/// badInput where this build has no Z3. Precondition: `named` limits the messages.
Result<std::shared_ptr<const solver::Planner>> z3Planner(const solver::Planner &named,
                                                         double seconds);

} // namespace syncline::driver
