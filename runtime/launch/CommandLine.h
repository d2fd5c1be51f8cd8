// What the command lines of all programs share: errors that name what was meant, help that fits the
// terminal, and the lines that a command ends with.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

namespace syncline {

/// One of `names`. Any other text is refused with the one that is near, or with all of them.
CLI::Validator oneOf(std::vector<std::string> names);

/// What is wrong with a line that `app` refused with `error`. An option that nobody knows counts
/// first, as it may stand for one that is missing; it is named with the one that is near.
std::string usageMessage(const CLI::App &app, const CLI::ParseError &error);

/// Descriptions are broken at COLUMNS; where that is not set at the terminal's width, and at 100
/// where standard output is none. For `CLI::App::formatter`, before subcommands are added.
std::shared_ptr<CLI::Formatter> helpFormatter();

/// `text` with lines of at most `width` characters, broken at spaces; a line that goes on has two
/// spaces more than it began with. Words longer than that stay whole.
std::string wrapped(const std::string &text, std::size_t width);

/// A command that can be pasted into a shell: words of other than letters, digits and a few signs
/// stand in quotes. Control characters, which would reach the terminal, become '?'.
std::string shellLine(const std::vector<std::string> &words);

/// What a command that writes `file` ends with, for standard error: "wrote FILE: WHAT", without
/// ": WHAT" where that is empty, and "next: COMMAND", each a line.
std::string closingLines(const std::string &file, const std::string &what,
                         const std::vector<std::string> &next);

} // namespace syncline
