// Tables of units, and parsing.
#include "runtime/calibrate/SizeText.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <span>

namespace syncline::calibrate {
namespace {

struct Unit {
  std::string_view name;
  double value;
};

constexpr Unit sizeUnits[] = {
    {"B", 1},    {"KB", 1e3},       {"kB", 1e3},       {"MB", 1e6},
    {"GB", 1e9}, {"KiB", 1u << 10}, {"MiB", 1u << 20}, {"GiB", 1u << 30},
};
constexpr Unit timeUnits[] = {{"ms", 1e-3}, {"s", 1}, {"min", 60}};

/// Parses a number, optional spaces and a unit.
std::optional<double> parse(std::string_view text, std::span<const Unit> units) {
  double number = 0;
  const char *end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || !std::isfinite(number))
    return std::nullopt;
  std::string_view name(rest, end);
  name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
  for (const Unit &unit : units)
    if (unit.name == name)
      return number * unit.value;
  return std::nullopt;
}

Status expected(const char *what, std::string_view text) {
  return Status::badInput(std::string("expected ") + what + ", got '" + std::string(text) + "'");
}

} // namespace

std::string sizeText(std::int64_t bytes) {
  for (auto [unit, shift] : {std::pair("GiB", 30), {"MiB", 20}, {"KiB", 10}})
    if (bytes > 0 && bytes % (std::int64_t{1} << shift) == 0)
      return std::to_string(bytes >> shift) + unit;
  return std::to_string(bytes) + "B";
}

Result<std::int64_t> parseSize(std::string_view text) {
  const std::optional<double> bytes = parse(text, sizeUnits);
  constexpr double max = 0x1p62;
  if (!bytes || !(*bytes > 0) || *bytes > max || std::floor(*bytes) != *bytes)
    return expected("a size such as '64KiB'", text);
  return static_cast<std::int64_t>(*bytes);
}

Result<double> parseTime(std::string_view text) {
  const std::optional<double> seconds = parse(text, timeUnits);
  if (!seconds || !(*seconds > 0))
    return expected("a time such as '60s'", text);
  return *seconds;
}

} // namespace syncline::calibrate
