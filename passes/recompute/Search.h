// Searches the cheapest recomputation that fits.
#pragma once

#include "passes/recompute/Problem.h"

namespace syncline::recompute {

struct Found {
  Choices choices;
  Outcome outcome;
};

/// Choices of few seconds with which at most `limit` bytes are alive. Where it finds none, those
/// with the fewest bytes that it saw; the caller compares the outcome with the limit.
///
/// From several starts (nothing recomputed, every segment light, every segment full, full blocks of
/// 2, 3, .. segments up to a few more than their number's square root) it takes the change of one
/// segment that frees most bytes a second until the limit holds, then undoes what is not needed,
/// the dearest first, and keeps the cheapest result. It is greedy and does not promise the optimum:
/// over random problems of five segments it takes 1.2 % more seconds in the mean, 40 % at most
/// (SearchTest). Deterministic; cubic in segments at worst, times the operations.
Found cheapest(const Problem &problem, std::int64_t limit);

} // namespace syncline::recompute
