// Texts that commands print.
#include "runtime/launch/CommandLineText.h"

#include "syncline/Printable.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <sstream>

namespace syncline::launch {

std::string wrapped(const std::string &text, std::size_t width) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string further(std::min(line.find_first_not_of(' '), line.size()) + 2, ' ');
    while (line.size() > width) {
      std::size_t space = line.rfind(' ', width);
      const std::size_t word = line.find_first_not_of(' ');
      if (space == line.npos || space <= word)
        space = line.find(' ', std::max(word, width));
      if (space == line.npos)
        break;
      result += line.substr(0, space) + "\n";
      line = further + line.substr(space + 1);
    }
    result += line + "\n";
  }
  if (!result.empty())
    result.pop_back();
  return result;
}

static bool isPlain(const std::string &word) {
  return !word.empty() && std::ranges::all_of(word, [](unsigned char c) {
    return std::isalnum(c) || c >= 0x80 || std::strchr("_./:=+,@%-", c);
  });
}

std::string shellLine(const std::vector<std::string> &words) {
  std::string line;
  for (const std::string &word : words) {
    line += line.empty() ? "" : " ";
    if (isPlain(word)) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word)
      line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return printable(line);
}

std::string closingLines(const std::string &file, const std::string &what,
                         const std::vector<std::string> &next) {
  return "wrote " + printable(file) + (what.empty() ? "" : ": " + what) +
         "\nnext: " + shellLine(next) + "\n";
}

} // namespace syncline::launch
