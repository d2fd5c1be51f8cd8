// Forcing: which schemes a gradient has to choose from, and the problem in which the choice is
// taken from it.
//
// All functions are pure and thread-safe; layers count from zero in backward order.
#pragma once

#include "passes/problem/Problem.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace syncline::explain {

/// The schemes that the problem offers the layer, in the order of solver::Scheme; `factors` too
/// where it can ride with a layer that has them.
std::vector<Scheme> offeredSchemes(const problem::Problem &problem, std::size_t layer);

/// The message of the plan that brings the layer; a piggyback's is its carrier's. Precondition: the
/// plan is one of the problem, the layer one of its layers.
const problem::Message &messageOf(const problem::Problem &problem, const problem::Solution &plan,
                                  std::size_t layer);

/// By which scheme that message travels. Precondition: as messageOf.
Scheme schemeIn(const problem::Problem &problem, const problem::Solution &plan, std::size_t layer);

/// The problem in which the layer travels by that scheme, alone or with any others: everything else
/// is still to be chosen. A piggyback is sent by factors by sending its carrier so. Nothing where
/// the scheme is not offered, or where it would need one merge class more than solvers take.
std::optional<problem::Problem> forceScheme(const problem::Problem &problem, std::size_t layer,
                                            Scheme scheme);

} // namespace syncline::explain
