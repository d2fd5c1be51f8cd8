// Bounded reading of text files, UTF-8 checking, and suggestions for misspelt names.
#include "frontend/files/TextFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
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

/// Levenshtein distance, in bytes. Inputs are cut to 64 bytes by the caller.
static std::size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

std::string quotedList(std::span<const std::string_view> known) {
  std::string list;
  for (std::string_view name : known)
    list += (list.empty() ? "'" : ", '") + std::string(name) + "'";
  return list;
}

std::string suggestion(std::string_view unknown, std::span<const std::string_view> known) {
  const std::string_view probe = unknown.substr(0, 64);
  std::string_view nearest;
  std::size_t best = std::max<std::size_t>(1, probe.size() / 3) + 1;
  for (std::string_view name : known)
    if (const std::size_t distance = editDistance(probe, name); distance < best) {
      best = distance;
      nearest = name;
    }
  if (!nearest.empty())
    return ", did you mean '" + std::string(nearest) + "'?";
  return ", expected one of " + quotedList(known);
}

} // namespace syncline::files
