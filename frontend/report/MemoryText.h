// What a rank's memory holds, by kind.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace syncline::report {

/// The bytes of a rank by kind, as plan.json's `memory` names them, largest first and without those
/// of no bytes: the spaces, "samples" (input and target), and what exchanges and the optimizer need
/// besides. Empty for a layer trace.
std::vector<std::pair<std::string, std::int64_t>> memoryByKind(const nlohmann::json &plan);

/// The sum of memoryByKind().
std::int64_t memoryBytes(const nlohmann::json &plan);

/// "a rank needs 17.2 GiB of its device's 37.3 GiB", from plan.json's `device_memory`; for a plan
/// without a step with what is not counted. Empty where the device's memory is unknown.
std::string fitText(const nlohmann::json &plan);

/// "recomputed in the backward pass: /h.0, /h.1: 30 operations, 1.2 ms a step; the arena is 1.5 MiB
/// smaller for it", from plan.json's `recomputed`.
std::string recomputedText(const nlohmann::json &recomputed);

/// "memory of a rank 7.42 GiB, laid out for bf16: arena 7.11 GiB, parameters 97.5 MiB, ...", as a
/// line, and recomputedText() as another. Empty for a layer trace.
std::string memoryText(const nlohmann::json &plan);

} // namespace syncline::report
