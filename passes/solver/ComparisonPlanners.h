// ComparisonPlanners: the rules by which other systems group gradients. Each function returns the
// ends of the groups (see choicesOfGroups) and needs a valid problem. README.md names the sources
// and what is idealised.
#pragma once

#include "passes/problem/MergeProblem.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace syncline::solver {

using namespace problem;

/// WFBP (Poseidon): every layer in a message of its own.
std::vector<std::size_t> layerwiseGroups(const MergeProblem &problem);

/// All layers in one message.
std::vector<std::size_t> singleGroup(const MergeProblem &problem);

/// MG-WFBP's published rule (INFOCOM 2019) scans the layers once and merges the next layer into the
/// open group when it is ready less than one latency `a` after the group would start.
/// T = a + b * bytes is the first option's line; for a cost that is no line, it is the
/// least-squares fit to what the authors' profiler would measure (32 KiB to 2 MiB).
std::vector<std::size_t> mgWfbpGroups(const MergeProblem &problem);

/// PyTorch DDP closes a bucket, in backward order, with the layer that brings it to its cap. The
/// first bucket's cap is 1 MiB, the others' is `cap` bytes.
std::vector<std::size_t> ddpGroups(const MergeProblem &problem, std::int64_t cap);

/// Horovod's background loop wakes every `cycle` seconds (not while it sends), takes the layers
/// that are ready and packs them, in order, into messages of at most `capacity` bytes; a larger
/// layer travels alone. Precondition: cycle > 0.
std::vector<std::size_t> horovodGroups(const MergeProblem &problem, std::int64_t capacity,
                                       double cycle = 1e-3);

} // namespace syncline::solver
