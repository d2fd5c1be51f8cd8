// ExhaustiveSearch: an exhaustive search that is obviously right. It judges the label search in
// tests and is not used for planning.
#pragma once

#include "passes/problem/Problem.h"

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace syncline::reference {

using namespace problem;

/// How many choice vectors exhaustiveSolution would look at; saturates at 2^62. Precondition:
/// valid.
std::int64_t countChoices(const Problem &problem);

/// Calls visit(choices) for every combination of choices that is sound. Precondition: valid.
void forEachSoundChoices(const Problem &problem,
                         const std::function<void(std::span<const Choice>)> &visit);

/// Every combination of choices that is sound, replayed: the first of those that finish earliest
/// with at most `maxMessages` messages. Nothing when there is none. Precondition: valid; time is
/// countChoices() times the layers.
std::optional<Solution>
exhaustiveSolution(const Problem &problem,
                   std::size_t maxMessages = std::numeric_limits<std::size_t>::max());

} // namespace syncline::reference
