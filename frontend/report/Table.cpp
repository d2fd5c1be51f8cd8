// A table of text with aligned columns, for the terminal.
#include "frontend/report/Table.h"

#include <algorithm>

using namespace syncline::report;

/// Characters, not bytes: continuation bytes of UTF-8 take no room.
static std::size_t width(const std::string &text) {
  return std::count_if(text.begin(), text.end(),
                       [](unsigned char c) { return (c & 0xC0) != 0x80; });
}

std::string Table::toString() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    widths.push_back(width(columns[i].title));
    for (const auto &row : rows)
      widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string text;
  auto append = [&](auto cellOf) {
    std::string line;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      std::string cell = cellOf(i), blanks(widths[i] - width(cell), ' ');
      line += (i ? "  " : "") + (columns[i].align == Align::left ? cell + blanks : blanks + cell);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  append([&](std::size_t i) { return columns[i].title; });
  for (const auto &row : rows)
    append([&](std::size_t i) { return row[i]; });
  return text;
}
