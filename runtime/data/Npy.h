// NumPy's .npy files: little-endian numbers, row-major.
#pragma once

#include "runtime/data/Array.h"

namespace syncline {

/// Opens a file of format version 1 to 3. The values stay in the file (mapped); nothing is read
/// before it is used. Errors, naming the file: badInput for anything else than a whole .npy file of
/// a supported type (f4 f8 f2 i8 i4 u1 and bool).
Result<Array> openNpy(const std::string &path);

/// Writes a dense row-major array under another name and renames it: the file is whole or not
/// there.
Status writeNpy(const std::string &path, ElementType type, const Shape &shape, const void *data);

} // namespace syncline
