// Texts that commands print: broken lines, shell commands, and the lines that a command ends with.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace syncline::launch {

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

} // namespace syncline::launch
