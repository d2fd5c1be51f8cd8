// What the command lines of all programs share: errors with suggestions, and help that fits the
// width of the terminal.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace syncline::launch {

/// Accepts one of `names`. For any other text the error suggests the nearest name or lists all
/// of them.
CLI::Validator oneOf(std::vector<std::string> names);

/// The message for a command line that `app` refused with `error`. An unknown option is
/// reported first, because it may be a misspelling of one that is missing; the message suggests
/// the nearest option.
std::string usageMessage(const CLI::App &app, const CLI::ParseError &error);

/// Why what a parsed command line would write destroys what it reads or writes elsewhere; empty
/// where it does not. Only existing regular files can be destroyed; devices and pipes cannot.
/// `filesOf` returns further files that are read with a given one; it is asked only where something
/// that exists would be written.
std::string
outputClash(const CLI::App &app,
            const std::function<std::vector<std::string>(const std::string &path)> &filesOf = {});

/// Parses the command line. Returns an exit code where the program has nothing left to do: that of
/// help or version, which it prints, or of `complain`, which gets the usage message.
std::optional<int> parseWords(CLI::App &app, int argc, char **argv,
                              int (*complain)(const std::string &message));

/// A formatter that breaks lines at COLUMNS, or at the terminal's width if that is not set, or at
/// 100 columns if standard output is no terminal. Pass it to `CLI::App::formatter` before
/// subcommands are added.
std::shared_ptr<CLI::Formatter> helpFormatter();

} // namespace syncline::launch
