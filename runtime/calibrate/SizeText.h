// Sizes and times to and from text.
#pragma once

#include "syncline/Status.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace syncline::calibrate {

/// "64KiB", "1000B": the largest binary unit that keeps it whole. Cluster files read it.
std::string sizeText(std::int64_t bytes);

/// A size above zero: "64KiB", "1.5MB", "1000B"; a whole number of bytes up to 2^62. The error says
/// what was expected.
Result<std::int64_t> parseSize(std::string_view text);

/// A time above zero, in seconds: "60s", "1.5min", "500ms".
Result<double> parseTime(std::string_view text);

} // namespace syncline::calibrate
