// The range of a plan's step, where computation takes less or more time than predicted.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace syncline::report {

/// A line with step, exposed time and efficiency at both ends, and one with what a plan for an end
/// would have that this one has not; empty where plan.json has no range. Throws as guarded()
/// expects where `plan` does not follow its schema.
std::string rangeText(const nlohmann::json &plan);

} // namespace syncline::report
