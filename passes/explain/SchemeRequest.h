// The schemes that a problem offers to one gradient, and the problem in which one of them is
// requested for it.
//
// Functions are pure and thread-safe; layers count from zero in backward order.
#pragma once

#include "passes/problem/Problem.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace syncline::explain {

/// The schemes that the problem offers to the layer, in the order of allSchemes(). They include
/// factors where the layer can be the piggyback of a layer that has them.
std::vector<Scheme> offeredSchemes(const problem::Problem &problem, std::size_t layer);

/// The message of the plan that brings the layer's gradient; for a piggyback, its carrier's
/// message. Precondition: the plan is a solution of the problem, and the layer is one of
/// its layers.
const problem::Message &messageOf(const problem::Problem &problem, const problem::Solution &plan,
                                  std::size_t layer);

/// The scheme of the layer's message. Precondition: as messageOf.
Scheme schemeIn(const problem::Problem &problem, const problem::Solution &plan, std::size_t layer);

/// The problem in which the layer must use this scheme, alone or in a bucket; all else may still be
/// chosen. A piggyback is sent by factors when its carrier is. Nothing where the scheme is not
/// offered, or where the problem would need more merge classes than solvers take.
std::optional<problem::Problem> requestScheme(const problem::Problem &problem, std::size_t layer,
                                              Scheme scheme);

} // namespace syncline::explain
