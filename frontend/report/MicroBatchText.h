// Steps that add up the gradients of several batches, in words.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

namespace syncline::report {

/// The micro-batches whose gradients a step adds up; 1 where the plan does not say.
std::int64_t microBatchesOf(const nlohmann::json &plan);

/// The predicted seconds of the step's last micro-batch, in which sums travel; a whole step of one.
double lastMicroBatchSeconds(const nlohmann::json &plan);

/// ": 3 micro-batches of 80.4 ms each and a last one of 120 ms. In the last one", where a step has
/// several; otherwise ":".
std::string stepParts(const nlohmann::json &plan);

/// What travels in which micro-batch, as a line; empty for steps of one micro-batch.
std::string microBatchText(const nlohmann::json &plan);

/// ", behind 3 micro-batches that take 240 ms or more", where a step has several; otherwise empty.
std::string earlierMicroBatches(const nlohmann::json &plan);

} // namespace syncline::report
