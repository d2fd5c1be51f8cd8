// A plan as a picture: what computes, what travels, and when, on one axis of time.
#pragma once

#include "syncline/Status.h"

#include <nlohmann/json.hpp>

#include <string>

namespace syncline::report {

/// An SVG of one step in virtual time, from plan.json. Rows: computation (forward, backward,
/// reconstruction, updates), the times at which messages are ready, and the channel, with one bar a
/// bucket, coloured by scheme and hatched where it is exposed. A tooltip on each bar says what it
/// is. The plan states the updates' sum only: buckets share it by their bytes. Of a plan whose
/// messages may end in the next step, the picture shows one step among others: what ends behind it
/// stands at its beginning, and the forward pass is hatched where it waits.
/// Errors: badInput where `plan` does not follow the plan schema.
Result<std::string> planSvg(const nlohmann::json &plan);

} // namespace syncline::report
