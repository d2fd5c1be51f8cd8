// Exact numbers and limits of a question to Z3.
#pragma once

#include <cstdint>
#include <z3++.h>

namespace syncline::z3judge {

z3::expr numberOf(z3::context &context, std::int64_t value);

/// The exact value of a double.
z3::expr exactValue(z3::context &context, double value);

/// A solver of linear arithmetic that gives up after so many seconds, or beyond 4 GiB.
z3::solver limitedSolver(z3::context &context, double seconds);

} // namespace syncline::z3judge
