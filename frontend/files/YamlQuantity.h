// Quantities, counts and choices as values of a YAML map; errors name file, line, column and key.
#pragma once

#include "frontend/files/YamlMap.h"

#include <cstdint>
#include <string_view>

namespace syncline::files {

/// A parser of Units.h.
template <typename T> using QuantityParser = Result<T> (*)(std::string_view);

/// Reads a scalar by `parse` and puts its place before the error. `wanted` says what should stand
/// there, such as "a time".
template <typename T>
Result<T> quantity(const YamlValue &value, std::string_view wanted, QuantityParser<T> parse) {
  SYNCLINE_TRY_GET(text, value.scalar(wanted));
  Result<T> parsed = parse(*text);
  if (!parsed)
    return value.error(parsed.status().message());
  return parsed;
}

/// Sets `target` (a double or an optional one) from `key` where the map has it.
template <typename Target>
Status readOptional(const YamlMap &map, std::string_view key, std::string_view wanted,
                    QuantityParser<double> parse, Target &target) {
  const std::optional<YamlValue> value = map.find(key);
  if (!value)
    return Status::ok();
  Result<double> parsed = quantity(*value, wanted, parse);
  if (parsed)
    target = *parsed;
  return parsed.status();
}

/// Sets `target` from `key`, which the map must have.
Status readRequired(const YamlMap &map, std::string_view key, std::string_view wanted,
                    QuantityParser<double> parse, double &target);

/// Sets `target` from `key` where the map has it: a size of at least one byte.
Status readSize(const YamlMap &map, std::string_view key, std::optional<std::int64_t> &target);

/// The text of `key`, which the map must have and which must not be empty. `wanted` says what
/// should stand there, such as "a name".
Result<std::string> readText(const YamlMap &map, std::string_view key, std::string_view wanted);

/// A whole number of `what` from 1 to `limit`.
Result<std::int64_t> readCount(const YamlValue &value, std::string_view what, std::int64_t limit);

/// A whole number below `count`, from 0, which counts `what`.
Result<std::int64_t> readIndex(const YamlValue &value, std::string_view what, std::int64_t count);

/// How many times as long something takes, without a unit: see parseFactor.
Result<double> readFactor(const YamlValue &value);

/// A finite number from 1 to `limit`, without a unit. Errors add `orElse`: what else may be there.
Result<double> readMultiple(const YamlValue &value, double limit, const std::string &orElse = "");

/// A part of something, above 0 and at most 1, without a unit.
Result<double> readShare(const YamlValue &value);

/// One of `words`: its index. `what` names the choice in errors, such as "formula".
Result<std::size_t> readChoice(const YamlValue &value, std::string_view what,
                               std::span<const std::string_view> words);

/// 'yes' or 'true', 'no' or 'false'.
Result<bool> readYesNo(const YamlValue &value);

} // namespace syncline::files
