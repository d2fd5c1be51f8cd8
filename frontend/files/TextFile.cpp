// Bounded reading of text files and UTF-8 checking.
#include "frontend/files/TextFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

namespace syncline::files {

Result<std::string> readTextFile(const std::string &path, std::size_t limit) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return Status::badInput(path + ": expected a file, got a directory");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return Status::badInput(path + ": cannot open: " + std::strerror(errno != 0 ? errno : ENOENT));
  std::string content;
  std::vector<char> chunk(1 << 16);
  while (content.size() <= limit) {
    in.read(chunk.data(), std::min(chunk.size(), limit + 1 - content.size()));
    content.append(chunk.data(), static_cast<std::size_t>(in.gcount()));
    if (in.bad())
      return Status::badInput(path + ": cannot read: " + std::strerror(errno));
    if (!in)
      break;
  }
  if (content.size() > limit)
    return Status::badInput(path + ": expected at most " + std::to_string(limit) +
                            " bytes, got more");
  return content;
}

/// Bytes of the UTF-8 character at the start of `text`, 0 when it is none (overlong forms,
/// surrogates and values above U+10FFFF are none).
static std::size_t utf8Length(std::string_view text) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80)
    return 1;
  const std::size_t length = lead >= 0xC2 && lead < 0xE0   ? 2
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
  if (length == 0 || text.size() < length)
    return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80)
      return 0;
  if ((lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) >= 0xA0) ||
      (lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) >= 0x90))
    return 0;
  return length;
}

Result<std::string_view> checkText(std::string_view text, std::string_view fileName) {
  constexpr std::string_view byteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(byteOrderMark))
    text.remove_prefix(byteOrderMark.size());
  std::size_t line = 1;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = text[i] == '\0' ? 0 : utf8Length(text.substr(i));
    if (length == 0)
      return Status::badInput(std::string(fileName) + ":" + std::to_string(line) +
                              ": expected UTF-8 text, got a byte of another kind");
    line += text[i] == '\n';
    i += length;
  }
  return text;
}

} // namespace syncline::files
