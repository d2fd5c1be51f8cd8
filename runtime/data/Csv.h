// Reading comma-separated numbers: one sample on each line, no header.
#pragma once

#include "runtime/data/Array.h"

namespace syncline::data {

/// Reads a table as an f64 array [lines, columns]. Blank lines are skipped. Errors: badInput,
/// naming file and line, for cells that are not finite numbers and for lines of different lengths.
Result<Array> readCsv(const std::string &path);

} // namespace syncline::data
