// Z3Judge: problems as satisfiability of linear arithmetic, decided by Z3. For small
// instances: a judge of the label search that shares neither its algorithm nor its arithmetic.
#pragma once

#include "passes/problem/Problem.h"

namespace syncline::z3judge {

using namespace problem;

/// Whether some plan finishes by `deadline` seconds, in exact rational arithmetic: every double of
/// the problem is taken at its exact value. badInput when a cost does not show its pieces; internal
/// when Z3 gives up or fails. Grows exponentially with the layers: ten take well under a second.
/// Precondition: the problem is valid.
Result<bool> canFinishBy(const Problem &problem, double deadline);

} // namespace syncline::z3judge
