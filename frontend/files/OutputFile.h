// Text files that a command writes: asked for before the work, whole or not there after it.
#pragma once

#include "syncline/Status.h"

#include <string>

namespace syncline::files {

/// A file could be written at `path`: its folder exists and may be written to, and it is no folder.
/// Creates nothing. Errors: badInput, naming the path.
Status expectWritableFile(const std::string &path);

/// Writes under another name and renames. Errors: badInput, naming the path.
Status writeTextFile(const std::string &path, const std::string &text);

} // namespace syncline::files
