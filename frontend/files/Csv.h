// Comma-separated values as RFC 4180 has them: quoted cells, doubled quotes, CRLF or LF.
#pragma once

#include "syncline/Status.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace syncline::files {

struct CsvRow {
  std::size_t line = 0; ///< where the row starts, counted from 1
  std::vector<std::string> cells;
};

/// All rows of `text` that are not blank. Unquoted cells lose the spaces around them. There are no
/// comments. Fails, naming file and line, on a quote that is never closed and on text after one.
Result<std::vector<CsvRow>> parseCsv(std::string_view text, std::string_view fileName);

/// The text as a quoted cell.
std::string csvQuoted(std::string_view text);

} // namespace syncline::files
