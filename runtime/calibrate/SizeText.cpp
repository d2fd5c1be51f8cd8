// Writing and parsing.
#include "runtime/calibrate/SizeText.h"

#include "syncline/ByteSize.h"

#include <charconv>
#include <cmath>
#include <optional>

namespace syncline::calibrate {
namespace {

/// Parses a number, optional spaces and a unit of time.
std::optional<double> parseSeconds(std::string_view text) {
  constexpr struct {
    std::string_view name;
    double seconds;
  } units[] = {{"ms", 1e-3}, {"s", 1}, {"min", 60}};
  double number = 0;
  const char *end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || !std::isfinite(number))
    return std::nullopt;
  std::string_view name(rest, end);
  name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
  for (const auto &unit : units)
    if (unit.name == name)
      return number * unit.seconds;
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
  const std::optional<std::int64_t> bytes = parseByteSize(text);
  if (bytes.value_or(0) == 0)
    return expected("a size such as '64KiB'", text);
  return *bytes;
}

Result<double> parseTime(std::string_view text) {
  const std::optional<double> seconds = parseSeconds(text);
  if (!seconds || !(*seconds > 0))
    return expected("a time such as '60s'", text);
  return *seconds;
}

} // namespace syncline::calibrate
