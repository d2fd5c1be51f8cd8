// Reading and writing NumPy's .npy files with little-endian, row-major numbers.
#pragma once

#include "runtime/data/Array.h"

namespace syncline::data {

/// Opens a file of format version 1 to 3. The file is mapped, so that values are read when they are
/// used. Errors: badInput, naming the file, unless it is a complete .npy file of a supported type
/// (f4 f8 f2 i8 i4 u1 and bool).
Result<Array> openNpy(const std::string &path);

/// Writes a dense row-major array, completely or not at all.
Status writeNpy(const std::string &path, ElementType type, const Shape &shape, const void *data);

} // namespace syncline::data
