// Formatting of quantities: pick the prefix after rounding, then print fixed-point digits.
#include "frontend/files/FormatUnits.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <span>
#include <string_view>

namespace syncline::files {
namespace {

struct Step {
  double factor;
  std::string_view unit;
};

/// Just below 1, where a number with `digits` digits rounds up to it: 999.9996 us reads 1.00 ms.
double roundsToOne(int digits) { return 1 - 0.5 * std::pow(10.0, -digits); }

/// `value` with `digits` significant digits, fixed notation, independent of the locale.
std::string significant(double value, int digits) {
  const double one = roundsToOne(digits);
  int decimals = digits - 1;
  double magnitude = std::fabs(value);
  for (; magnitude >= 10 * one && decimals > 0; magnitude /= 10)
    --decimals;
  for (; magnitude < one && magnitude > 1e-9; magnitude *= 10)
    ++decimals;
  std::array<char, 400> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                    std::chars_format::fixed, decimals);
  return {buffer.data(), result.ptr};
}

/// `value` in the largest unit of `steps` (ascending) in which it prints as at least 1.
std::string withUnit(double value, std::span<const Step> steps, int digits) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  digits = std::clamp(digits, 1, 17);
  const Step *chosen = &steps.front();
  for (const Step &step : steps)
    if (std::fabs(value) >= step.factor * roundsToOne(digits))
      chosen = &step;
  return significant(value / chosen->factor, digits) + " " + std::string(chosen->unit);
}

constexpr std::array<Step, 4> times{{{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1, "s"}}};
constexpr std::array<Step, 5> sizes{{{1, "B"},
                                     {1024.0, "KiB"},
                                     {1048576.0, "MiB"},
                                     {1073741824.0, "GiB"},
                                     {1099511627776.0, "TiB"}}};
constexpr std::array<Step, 5> rates{
    {{1, "B/s"}, {1e3, "kB/s"}, {1e6, "MB/s"}, {1e9, "GB/s"}, {1e12, "TB/s"}}};
constexpr std::array<Step, 5> computeRates{
    {{1, "FLOP/s"}, {1e6, "MFLOP/s"}, {1e9, "GFLOP/s"}, {1e12, "TFLOP/s"}, {1e15, "PFLOP/s"}}};

} // namespace

std::string formatSeconds(double seconds, int digits) {
  if (seconds == 0)
    return "0 s";
  return withUnit(seconds, times, digits);
}

std::string formatBytes(std::int64_t bytes, int digits) {
  if (bytes > -10000 && bytes < 10000)
    return std::to_string(bytes) + " B";
  return withUnit(static_cast<double>(bytes), sizes, digits);
}

std::string formatByteRate(double bytesPerSecond, int digits) {
  return withUnit(bytesPerSecond, rates, digits);
}

std::string formatComputeRate(double flopPerSecond, int digits) {
  return withUnit(flopPerSecond, computeRates, digits);
}

std::string formatNumber(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

std::string counted(std::int64_t count, const std::string &noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

} // namespace syncline::files
