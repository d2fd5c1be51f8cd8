// SolverBench: times of the choice of scheme and merge.
#pragma once

namespace syncline::solver {

/// Prints a table of networks, clusters and planning times; false when a limit is missed, a plan or
/// a certificate is refused.
bool benchSolver();

} // namespace syncline::solver
