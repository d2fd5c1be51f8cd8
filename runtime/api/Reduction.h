// What ranks do with a message of the C interface, which they compare with each message.
#pragma once

#include "syncline.h"

#include <cstdint>
#include <string>

namespace syncline::api {

/// Beside each syncline_operation: ranks gather what each of them has.
inline constexpr int gathering = SYNCLINE_MEAN + 1;

/// A number from 1 on for a syncline_type and an operation, which both exist.
std::uint8_t reductionTag(int type, int operation);
/// "a sum of 'f32'", "a mean of 'bf16'"; for a number that no reduction has, "nothing known".
std::string reductionText(std::uint8_t tag);

} // namespace syncline::api
