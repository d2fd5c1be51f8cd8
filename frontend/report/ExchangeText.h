// Plans whose gradients stay on their rank, in words.
#pragma once

#include "syncline/Status.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace syncline::report {

/// Whether weights travel in place of gradients.
bool isLocal(const nlohmann::json &plan);

/// The plan's consistency as 'compile --consistency' takes it: "bsp", "local:4".
std::string consistencyOf(const nlohmann::json &plan);

/// A table of the fragments, and what a step moves in the mean, beside what it would move if
/// gradients travelled by the same schemes; empty for "bsp". Throws as guarded() expects.
std::string exchangeText(const nlohmann::json &plan);

/// "2 fragments, 23.8 KiB of weights", "23.8 KiB of weights on 4 servers beside ranks". Throws as
/// guarded() expects. Precondition: isLocal(plan).
std::string fragmentsText(const nlohmann::json &plan);

/// When the weights of one parameter travel, and how. Errors: badInput where the plan does not
/// follow its schema, or no fragment has the parameter.
Result<std::string> whyExchange(const nlohmann::json &plan, const std::string &parameter);

} // namespace syncline::report
