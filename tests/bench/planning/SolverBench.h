// SolverBench: times of the choice of scheme and merge.
#pragma once

namespace syncline::solver {

/// Prints a table of networks, clusters and planning times; false when a limit is missed, a plan or
/// a certificate is refused.
bool benchSolver();

/// As benchSolver(), where messages slow computation; false also where a gap is above 1 %.
bool benchSlowed();

} // namespace syncline::solver
