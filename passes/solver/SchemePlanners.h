// SchemePlanners: how other systems choose schemes, on the problem and its clock. Each answers
// with one choice per layer (see replay) or badInput, which says what the problem lacks. Sources
// and what is idealised: README.md.
#pragma once

#include "passes/problem/Problem.h"

#include <functional>
#include <span>
#include <vector>

namespace syncline::solver {

using namespace problem;

/// A rule for merging alone: the ends of the groups (see choicesOfGroups).
using MergeClassGroups = std::function<std::vector<std::size_t>(const MergeProblem &)>;

/// All gradients through the first merge class, grouped by a rule that knows no limits: a group
/// that is larger than the merge class's largest message is cut before the layer that makes it so.
/// badInput when a layer may not travel there, or all are more than the merge class can hold. Where
/// `system` is not empty only its schemes are used; of a merge class with one all-reduce, that: it
/// was requested by name, or is what was measured. badInput where the merge class has none of
/// these.
Result<std::vector<Choice>> choicesInFirstMergeClass(const Problem &problem,
                                                     const MergeClassGroups &groups,
                                                     std::span<const Scheme> system = {});

/// Poseidon: every layer alone; by factors where they move fewer bytes than servers do (both ways),
/// through the servers elsewhere; biases of layers that go by factors ride.
Result<std::vector<Choice>> poseidonChoices(const Problem &problem);

/// Every layer alone, through the servers.
Result<std::vector<Choice>> serverChoices(const Problem &problem);

/// Every layer alone; by factors wherever a layer can, through the servers elsewhere, or where
/// there are none by the first merge class's first scheme. badInput when no layer can go by
/// factors.
Result<std::vector<Choice>> factorChoices(const Problem &problem);

/// Every layer alone: where goesAlone(k), by its fastest factor option; else in `merge_class`, or
/// where that is not allowed or full, in the first other merge class that takes it, or factor
/// option. Piggybacks of layers that go as factors ride. Always sound. Preconditions: valid;
/// goesAlone only where layer k has a factor option.
std::vector<Choice> layerwiseChoices(const Problem &problem, std::size_t mergeClass,
                                     const std::function<bool(std::size_t)> &goesAlone);

} // namespace syncline::solver
