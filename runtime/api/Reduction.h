// What a message of the C interface is summed for: ranks compare it with each message.
#pragma once

#include "syncline.h"

#include <cstdint>
#include <string>

namespace syncline::api {

/// A number from 1 on for a syncline_type and a syncline_operation, which both exist.
std::uint8_t reductionTag(int type, int operation);
/// "a sum of 'f32'", "a mean of 'bf16'"; for a number that no reduction has, "nothing known".
std::string reductionText(std::uint8_t tag);

} // namespace syncline::api
