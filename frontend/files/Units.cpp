// Parser of quantities: number, then unit, then a check of sign and range.
#include "frontend/files/Units.h"

#include "syncline/ByteSize.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <string>

namespace syncline::files {
namespace {

/// A unit in base units, as a fraction of exact doubles: 1.1 / 1000 is the double nearest to
/// 0.0011, 1.1 * 0.001 is not.
struct Ratio {
  double numerator = 1;
  double denominator = 1;
};

/// What a dimension is called in messages and how its unit text becomes a factor to base units.
struct Dimension {
  std::string_view name;
  std::string_view example;
  std::string_view accepted;
  std::optional<Ratio> (*factor)(std::string_view unit);
  bool zeroAllowed;
};

std::optional<Ratio> timeFactor(std::string_view unit) {
  if (unit == "s")
    return Ratio{};
  if (unit == "ms")
    return Ratio{1, 1e3};
  // The micro sign and the Greek letter mu look alike; people type both.
  if (unit == "us" || unit == "\u00B5s" || unit == "\u03BCs")
    return Ratio{1, 1e6};
  if (unit == "ns")
    return Ratio{1, 1e9};
  if (unit == "min")
    return Ratio{60, 1};
  return std::nullopt;
}

/// k, K, M, G, T, P, E and Ki, Mi, Gi, Ti, Pi; the empty prefix is 1.
std::optional<double> prefixFactor(std::string_view prefix) {
  if (prefix.empty())
    return 1.0;
  const bool binary = prefix.size() == 2 && prefix[1] == 'i';
  if (prefix.size() != 1 && !binary)
    return std::nullopt;
  const char letter = prefix[0] == 'k' && !binary ? 'K' : prefix[0];
  const std::size_t power = std::string_view("KMGTPE").find(letter);
  if (power == std::string_view::npos)
    return std::nullopt;
  return std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(power + 1));
}

/// The factor of a prefixed unit whose base is `base`, nothing when `unit` does not end in it.
std::optional<Ratio> prefixed(std::string_view unit, std::string_view base) {
  if (!unit.ends_with(base))
    return std::nullopt;
  const auto factor = prefixFactor(unit.substr(0, unit.size() - base.size()));
  return factor ? std::optional(Ratio{*factor, 1}) : std::nullopt;
}

std::optional<Ratio> byteFactor(std::string_view unit) { return prefixed(unit, "B"); }

/// The factor of a unit of bytes or bits, in bytes.
std::optional<Ratio> dataFactor(std::string_view unit) {
  if (auto bytes = byteFactor(unit))
    return bytes;
  for (std::string_view bit : {"bit", "b"})
    if (auto bits = prefixed(unit, bit))
      return Ratio{bits->numerator, 8};
  return std::nullopt;
}

/// `above`/`below`, nothing when `unit` has no slash or either side is unknown.
std::optional<Ratio> quotient(std::string_view unit, decltype(timeFactor) above,
                              decltype(timeFactor) below) {
  const std::size_t slash = unit.find('/');
  if (slash == std::string_view::npos)
    return std::nullopt;
  const auto over = above(unit.substr(0, slash)), under = below(unit.substr(slash + 1));
  if (!over || !under)
    return std::nullopt;
  return Ratio{over->numerator * under->denominator, over->denominator * under->numerator};
}

std::optional<Ratio> byteRateFactor(std::string_view unit) {
  if (const auto bits = prefixed(unit, "bps"))
    return Ratio{bits->numerator, 8};
  return quotient(unit, dataFactor, timeFactor);
}

std::optional<Ratio> secondsPerByteFactor(std::string_view unit) {
  return quotient(unit, timeFactor, dataFactor);
}

std::optional<Ratio> computeRateFactor(std::string_view unit) {
  for (std::string_view base : {"FLOP/s", "FLOPS", "FLOPs/s", "flop/s", "flops"})
    if (const auto factor = prefixed(unit, base))
      return factor;
  return std::nullopt;
}

constexpr Dimension time{"a time", "1.5ms", "ns, us, ms, s, min", timeFactor, true};
constexpr Dimension byteUnits{"a size", "25MiB", byteSizeUnits, byteFactor, true};
constexpr Dimension byteRate{"a data rate", "10 Gb/s",
                             "b/s, kb/s, Mb/s, Gb/s (bits), B/s, kB/s, MB/s, GB/s, GiB/s (bytes)",
                             byteRateFactor, false};
constexpr Dimension computeRate{"a compute rate", "50 GFLOP/s",
                                "FLOP/s, MFLOP/s, GFLOP/s, TFLOP/s, PFLOP/s", computeRateFactor,
                                false};
constexpr Dimension secondsPerByte{"a time per byte", "7.4e-10 s/B", "s/B, ns/B, s/MB, s/GiB",
                                   secondsPerByteFactor, true};

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// `text` in quotes, shortened so that a message stays one readable line.
std::string quoted(std::string_view text) {
  constexpr std::size_t limit = 60;
  if (text.size() <= limit)
    return "'" + std::string(text) + "'";
  std::size_t cut = limit;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80)
    --cut;
  return "'" + std::string(text.substr(0, cut)) + "...'";
}

Status expectedWithUnit(const Dimension &dimension, std::string_view text) {
  return Status::badInput("expected " + std::string(dimension.name) + " with a unit such as '" +
                          std::string(dimension.example) + "', got " +
                          (text.empty() ? "nothing" : quoted(text)));
}

Result<double> parseQuantity(std::string_view original, const Dimension &dimension) {
  const std::string_view text = trim(original);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::invalid_argument)
    return expectedWithUnit(dimension, text);
  if (error == std::errc::result_out_of_range)
    return Status::badInput("expected " + std::string(dimension.name) +
                            " within the range of a double, got " + quoted(text));
  if (!std::isfinite(number))
    return Status::badInput("expected " + std::string(dimension.name) + " that is finite, got " +
                            quoted(text));
  const std::string_view unit = trim(text.substr(static_cast<std::size_t>(end - text.data())));
  if (unit.empty())
    return expectedWithUnit(dimension, text);
  const std::optional<Ratio> factor = dimension.factor(unit);
  if (!factor)
    return Status::badInput("unknown unit " + quoted(unit) + " in " + quoted(text) + ", expected " +
                            std::string(dimension.name) + " in one of " +
                            std::string(dimension.accepted));
  if (std::signbit(number) || (number == 0 && !dimension.zeroAllowed))
    return Status::badInput("expected " + std::string(dimension.name) +
                            (dimension.zeroAllowed ? " of zero or more" : " above zero") +
                            ", got " + quoted(text));
  const double value = number * factor->numerator / factor->denominator;
  if (!std::isfinite(value) || (value == 0 && number != 0))
    return Status::badInput("expected " + std::string(dimension.name) +
                            " within the range of a double, got " + quoted(text));
  return value;
}

/// Parses a value within limits. Values beyond them are slips of the user; within them sums of
/// times stay finite and quotients keep their digits.
Result<double> parseWithin(std::string_view text, const Dimension &dimension, double least,
                           double most, std::string_view range) {
  Result<double> value = parseQuantity(text, dimension);
  if (value && (*value < least || *value > most))
    return Status::badInput("expected " + std::string(dimension.name) + " " + std::string(range) +
                            ", got " + quoted(trim(text)));
  return value;
}

} // namespace

Result<double> parseSeconds(std::string_view text) {
  return parseWithin(text, time, 0, 1e6, "from 0 s to 1000000 s");
}

Result<double> parseByteRate(std::string_view text) {
  return parseWithin(text, byteRate, 1.0 / 8, 1e18, "from 1 b/s to 1 EB/s");
}

Result<double> parseComputeRate(std::string_view text) {
  return parseWithin(text, computeRate, 1, 1e21, "from 1 FLOP/s to 1000 EFLOP/s");
}

Result<double> parseSecondsPerByte(std::string_view text) {
  return parseWithin(text, secondsPerByte, 0, 8, "from 0 s/B to 8 s/B");
}

Result<std::int64_t> parseBytes(std::string_view text) {
  SYNCLINE_TRY_GET(bytes, parseQuantity(text, byteUnits));
  if (const std::optional<std::int64_t> size = parseByteSize(trim(text)))
    return *size;
  return Status::badInput("expected a whole number of bytes up to 8 PiB, got " +
                          quoted(trim(text)));
}

Result<double> parseFactor(std::string_view original) {
  const std::string_view text = trim(original);
  double factor = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
  if (error != std::errc() || end != text.data() + text.size() ||
      !(factor >= minFactor && factor <= maxFactor))
    return Status::badInput("expected a number from 1e-6 to 1e6 such as 1.5, got " +
                            (text.empty() ? "nothing" : quoted(text)));
  return factor;
}

Result<std::int64_t> parseCount(std::string_view original, std::string_view what,
                                std::int64_t limit) {
  const std::string_view text = trim(original);
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 1 || count > limit)
    return Status::badInput("expected a whole number of " + std::string(what) + " from 1 to " +
                            std::to_string(limit) + ", got " +
                            (text.empty() ? "nothing" : quoted(text)));
  return count;
}

} // namespace syncline::files
