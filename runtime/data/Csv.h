// Comma-separated numbers: one sample a line, no header.
#pragma once

#include "runtime/data/Array.h"

namespace syncline {

/// Reads a table as an f64 array [lines, columns]. Blank lines are skipped. Errors: badInput,
/// naming file and line, for cells that are no finite numbers and for lines of different length.
Result<Array> readCsv(const std::string &path);

} // namespace syncline
