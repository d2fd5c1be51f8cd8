// What the command lines of all programs share: errors with suggestions, and help that fits the
// width of the terminal.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

namespace syncline {

/// Accepts one of `names`. For any other text the error suggests the nearest name or lists all
/// of them.
CLI::Validator oneOf(std::vector<std::string> names);

/// The message for a command line that `app` refused with `error`. An unknown option is
/// reported first, because it may be a misspelling of one that is missing; the message suggests
/// the nearest option.
std::string usageMessage(const CLI::App &app, const CLI::ParseError &error);

/// A formatter that breaks lines at COLUMNS, or at the terminal's width if that is not set, or at
/// 100 columns if standard output is no terminal. Pass it to `CLI::App::formatter` before
/// subcommands are added.
std::shared_ptr<CLI::Formatter> helpFormatter();

} // namespace syncline
