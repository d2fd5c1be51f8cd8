// One line of UTF-8.
#include "syncline/Printable.h"

#include <string_view>

namespace syncline {
namespace {

constexpr const char *cut = "..";

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// The bytes of the character of UTF-8 with which `text` begins; 0 where it begins with none.
std::size_t characterSize(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t size = first < 0x80   ? 1
                           : first < 0xC2 ? 0
                           : first < 0xE0 ? 2
                           : first < 0xF0 ? 3
                           : first < 0xF5 ? 4
                                          : 0;
  if (size > text.size())
    return 0;
  for (std::size_t i = 1; i < size; ++i)
    if (!continues(text[i]))
      return 0;
  // Overlong forms, surrogates, and numbers beyond the last character.
  const unsigned char second = size > 1 ? static_cast<unsigned char>(text[1]) : 0;
  const bool isWrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                       (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return isWrong ? 0 : size;
}

bool isControl(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1)
    return first < 0x20 || first == 0x7F;
  return first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
}

/// The first bytes of a text of UTF-8, at most `most`, without a part of a character at the end.
std::string_view head(std::string_view text, std::size_t most) {
  while (most > 0 && most < text.size() && continues(text[most]))
    --most;
  return text.substr(0, most);
}

/// Shortens what stands in single quotes to `most` bytes.
std::string shortenQuotes(std::string_view text, std::size_t most) {
  std::string result;
  while (!text.empty()) {
    const std::size_t begin = text.find('\''), end = text.find('\'', begin + 1);
    if (begin == text.npos || end == text.npos)
      break;
    const std::string_view inside = text.substr(begin + 1, end - begin - 1);
    result += text.substr(0, begin + 1);
    result += head(inside, most);
    result += inside.size() > most ? cut : "";
    result += '\'';
    text.remove_prefix(end + 1);
  }
  return result + std::string(text);
}

} // namespace

std::string printable(std::string text, std::size_t most) {
  std::string line;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t size = characterSize(rest);
    if (size == 0)
      line += "\xEF\xBF\xBD";
    else if (isControl(rest.substr(0, size)))
      line += '?';
    else
      line += rest.substr(0, size);
    rest.remove_prefix(size == 0 ? 1 : size);
  }
  if (line.size() > most)
    line = shortenQuotes(line, most / 8);
  if (line.size() > most)
    line = std::string(head(line, most)) + cut;
  return line;
}

} // namespace syncline
