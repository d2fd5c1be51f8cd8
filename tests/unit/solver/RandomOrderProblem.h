// RandomOrderProblem: order problems of every kind, the same on every machine.
#pragma once

#include "passes/problem/OrderProblem.h"
#include "tests/unit/solver/RandomProblem.h"

namespace syncline::solver {

/// `sync` with a random next forward pass, about as long as half of the backward pass. Layers are
/// read in the opposite order of their gradients; where `mayJump` some are read sooner, as over a
/// skip connection. Without skip connections updates take time, too.
OrderProblem randomOrderProblem(Random &random, Problem sync, bool mayJump);

/// A problem of at most three layers, cut into at most `parts` parts.
OrderProblem smallOrderProblem(std::uint64_t seed, std::size_t parts);

} // namespace syncline::solver
