// The common part of all programs' command lines: errors with suggestions, help that fits the
// terminal, and the closing lines of a command.
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

/// `text` with lines of at most `width` characters, broken at spaces. Continuation lines are
/// indented by two more spaces. Longer words stay whole.
std::string wrapped(const std::string &text, std::size_t width);

/// A command that can be pasted into a shell. Words with other characters than letters, digits and
/// a few signs are quoted. Control characters, which would reach the terminal, become '?'.
std::string shellLine(const std::vector<std::string> &words);

/// The closing lines, for standard error, of a command that wrote `file`: "wrote FILE: WHAT" and
/// "next: COMMAND". Without `what` the first line is "wrote FILE".
std::string closingLines(const std::string &file, const std::string &what,
                         const std::vector<std::string> &next);

} // namespace syncline
