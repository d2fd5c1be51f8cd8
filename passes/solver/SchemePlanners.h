// SchemePlanners: the rules by which other systems choose schemes. Each returns one choice per
// layer (see replay), or badInput that says what the problem lacks. README.md names the sources and
// what is idealised.
#pragma once

#include "passes/problem/Problem.h"

#include <functional>
#include <span>
#include <vector>

namespace syncline::solver {

using namespace problem;

/// A rule for merging alone; it returns the ends of the groups (see choicesOfGroups).
using MergeClassGroups = std::function<std::vector<std::size_t>(const MergeProblem &)>;

/// All gradients in the first merge class, grouped by a rule that ignores limits: a group above the
/// class's largest message is cut before the layer that exceeds it. With `system` only its schemes
/// are used, but a class that has one all-reduce uses that one, since it was requested by name or
/// measured. Returns badInput when a layer may not use the class, when the class cannot hold all
/// gradients, or when it has none of the system's schemes.
Result<std::vector<Choice>> choicesInFirstMergeClass(const Problem &problem,
                                                     const MergeClassGroups &groups,
                                                     std::span<const Scheme> system = {});

/// Poseidon: every layer in its own message. Layers send factors where these move no more
/// bytes than servers do, both directions, and else use the servers; biases of such layers
/// are piggybacks.
Result<std::vector<Choice>> poseidonChoices(const Problem &problem);

/// Every layer in its own message, through the servers.
Result<std::vector<Choice>> serverChoices(const Problem &problem);

/// Every layer in its own message: factors wherever a layer has them, else through the servers,
/// or without servers by the first merge class's first scheme. Returns badInput when no layer
/// has factors.
Result<std::vector<Choice>> factorChoices(const Problem &problem);

/// Every layer in its own message. A layer with sendsFactors(k) uses its fastest factor option. Any
/// other uses `mergeClass`; where that is not allowed or full, the first other merge class that
/// takes it, or a factor option. Piggybacks follow carriers that send factors. The result is
/// always sound. Preconditions: the problem is valid, and sendsFactors(k) only where layer k has a
/// factor option.
std::vector<Choice> layerwiseChoices(const Problem &problem, std::size_t mergeClass,
                                     const std::function<bool(std::size_t)> &sendsFactors);

} // namespace syncline::solver
