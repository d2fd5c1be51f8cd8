// Texts with numbers, as by std::printf().
#pragma once

#include <cstdarg>
#include <string>

namespace syncline::core {

[[gnu::format(printf, 1, 2)]] std::string formatted(const char *format, ...);
/// As formatted(). The caller ends `values`.
[[gnu::format(printf, 1, 0)]] std::string formattedBy(const char *format, va_list values);

} // namespace syncline::core
