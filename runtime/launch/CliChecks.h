// Validators for command lines, with messages that name what was expected.
#pragma once

#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdint>
#include <string>

namespace syncline {

constexpr std::int64_t maxWhole = std::int64_t{1} << 62;

/// Accepts a whole number from `min` to `max`.
inline CLI::Validator wholeNumber(std::int64_t min, const std::string &unit,
                                  std::int64_t max = maxWhole) {
  return CLI::Validator(
      [=](std::string &text) -> std::string {
        std::int64_t value = 0;
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc() && end == text.data() + text.size() && value >= min &&
            value <= max)
          return {};
        return "expected a whole number of " + unit + ", at least " + std::to_string(min) +
               (max < maxWhole ? " and at most " + std::to_string(max) : "") + ", got '" + text +
               "'";
      },
      "");
}

/// Accepts a real number from `min` to `max`, and so neither infinity nor NaN.
inline CLI::Validator realNumber(double min, double max, const std::string &wanted) {
  return CLI::Validator(
      [=](std::string &text) -> std::string {
        double value = 0;
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc() && end == text.data() + text.size() && value >= min &&
            value <= max)
          return {};
        return "expected " + wanted + ", got '" + text + "'";
      },
      "");
}

/// Accepts a text that is not empty.
inline CLI::Validator someText() {
  return CLI::Validator(
      [](std::string &text) {
        return text.empty() ? std::string("expected a name, got nothing") : "";
      },
      "");
}

} // namespace syncline
