// Disturbed steps by a plan and by those that it was compared with.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace syncline::report {

/// "in 32 drawn steps, .. a step takes ..; with a barrier .." and whose the proof is, with its
/// lines' ends; empty where no plans were compared. `predicted` is plan.json's. Throws as guarded()
/// expects where it does not follow its schema.
std::string disturbedText(const nlohmann::json &predicted);

/// A line for each plan, the kept one first, with what the others take more; empty as above.
std::string disturbedWhy(const nlohmann::json &predicted);

} // namespace syncline::report
