// Steps that add up the gradients of several batches, in words.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

namespace syncline::report {

/// The batches whose gradients a step adds up, one pass each; 1 where the plan does not say.
std::int64_t passesOf(const nlohmann::json &plan);

/// The predicted seconds of the step's last pass, in which sums travel; all of a step of one pass.
double lastPassSeconds(const nlohmann::json &plan);

/// ": 3 passes of 80.4 ms each and a last one of 120 ms. In the last one", where a step has several
/// passes; otherwise ":".
std::string stepParts(const nlohmann::json &plan);

/// What travels in which pass, as a line; empty for steps of one pass.
std::string passesText(const nlohmann::json &plan);

/// ", behind 3 passes that take 240 ms or more", where a step has several passes; otherwise empty.
std::string earlierPasses(const nlohmann::json &plan);

} // namespace syncline::report
