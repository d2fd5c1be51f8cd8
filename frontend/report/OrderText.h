// What a plan's order of messages does and how well it is known, as text for people.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace syncline::report {

/// Whether messages may reach into the next forward pass, so that the plan has an order.
bool hasOrder(const nlohmann::json &plan);

/// Seconds for which messages are under way.
struct UnderWay {
  double behindBackward = 0, after = 0; ///< before the end of the backward pass, and after it
};
/// Throws as nlohmann::json does where the plan lacks a field.
UnderWay underWay(const nlohmann::json &plan);

/// What hides behind which pass, which messages overtake others, and the proof of the bound on the
/// step. Throws as nlohmann::json does where the plan does not follow its schema. Precondition:
/// hasOrder().
std::string orderText(const nlohmann::json &plan);

} // namespace syncline::report
