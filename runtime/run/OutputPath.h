// Whether results can be written, asked before the training that makes them.
#pragma once

#include "syncline/Status.h"

#include <string>

namespace syncline {

/// A file could be written at `path`: its folder exists and may be written to, and it is no folder.
/// Creates nothing. Errors: badInput, naming the path.
Status expectWritableFile(const std::string &path);

/// A folder is at `path` or could be made there, with its parents, and may be written to. Creates
/// nothing. Errors: badInput, naming the path.
Status expectWritableFolder(const std::string &path);

/// Writes the file under another name and renames it: whole, or not there. Errors: badInput, naming
/// the path.
Status writeWholeFile(const std::string &path, const std::string &bytes);

} // namespace syncline
