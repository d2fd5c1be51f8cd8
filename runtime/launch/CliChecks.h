// Validators for command lines, with messages that name what was expected.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace syncline::launch {

constexpr std::int64_t maxWhole = std::int64_t{1} << 62;

/// Accepts a whole number from `min` to `max`.
CLI::Validator wholeNumber(std::int64_t min, const std::string &unit, std::int64_t max = maxWhole);

/// Accepts a real number from `min` to `max`, and so neither infinity nor NaN.
CLI::Validator realNumber(double min, double max, const std::string &wanted);

/// Accepts a text that is not empty.
CLI::Validator someText();

/// Adds options of 'compile' that are refused, because a plan has decided on them. The message
/// continues with `then`. Help does not list them.
void addDecided(CLI::App &app, const std::vector<std::string> &names, const std::string &then = "");

} // namespace syncline::launch
