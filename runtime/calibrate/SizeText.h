// Converting sizes and times to and from text.
#pragma once

#include "syncline/Status.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace syncline::calibrate {

/// The size in the largest binary unit that divides it: "64KiB", "1000B". Cluster files can
/// contain it.
std::string sizeText(std::int64_t bytes);

/// Parses a positive size such as "64KiB", as parseByteSize() does.
Result<std::int64_t> parseSize(std::string_view text);

/// Parses a positive time such as "60s", "1.5min" or "500ms"; returns seconds.
Result<double> parseTime(std::string_view text);

} // namespace syncline::calibrate
