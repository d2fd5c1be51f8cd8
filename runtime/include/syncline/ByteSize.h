// Sizes with a unit, such as "25MiB": the one grammar of options and of cluster files.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace syncline {

/// The usual units that parseByteSize() takes, for messages. It takes KB, PB and PiB, too.
inline constexpr std::string_view byteSizeUnits = "B, kB, KiB, MB, MiB, GB, GiB, TB, TiB";

/// Parses a number, spaces or none, and a unit. Returns a whole number of bytes from 0 to 2^53, up
/// to which doubles are exact, and nothing for any other text. Pure.
inline std::optional<std::int64_t> parseByteSize(std::string_view text) {
  constexpr struct {
    std::string_view name;
    double bytes;
  } units[] = {{"B", 1},     {"kB", 1e3},     {"KB", 1e3},  {"KiB", 0x1p10},
               {"MB", 1e6},  {"MiB", 0x1p20}, {"GB", 1e9},  {"GiB", 0x1p30},
               {"TB", 1e12}, {"TiB", 0x1p40}, {"PB", 1e15}, {"PiB", 0x1p50}};
  double number = 0;
  const char *end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || !(number >= 0) || std::signbit(number))
    return std::nullopt;
  std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  while (unit.starts_with(' '))
    unit.remove_prefix(1);
  for (const auto &[name, factor] : units) {
    if (unit != name)
      continue;
    const double bytes = number * factor, whole = std::round(bytes);
    constexpr double rounding = 1e-12; // "2.3MB" is 2299999.9999999995
    if (bytes > 0x1p53 || std::abs(bytes - whole) > rounding * bytes)
      return std::nullopt;
    return static_cast<std::int64_t>(whole);
  }
  return std::nullopt;
}

} // namespace syncline
