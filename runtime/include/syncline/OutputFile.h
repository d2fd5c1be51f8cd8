// Files that a command writes. Their paths are checked before the work; after it a file is complete
// or not there.
//
// A path may be a symbolic link (see endOfLinks()): the file at its end is written, and the link
// stays. A pipe or a device is written into and stays what it is; a pipe that nobody reads from
// within ten seconds is an error. All errors are badInput and name the path.
#pragma once

#include "syncline/Status.h"

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

namespace syncline {

/// Ok when a file could be written at `path`: its folder exists and is writable, and `path` is no
/// folder; or `path` is a writable pipe or device. Creates nothing.
Status expectWritableFile(const std::string &path);

/// Ok when `path` is a writable folder, or such a folder could be made there with its parents.
/// Creates nothing.
Status expectWritableFolder(const std::string &path);

/// Writes a new file and puts that in its place, so that the file is complete or as it was before.
/// Nothing else is left where the process is killed, unless the file system has only files with
/// names: then PATH.partial-XXXXXXXX. Bytes that a pipe or a device took before an error cannot be
/// taken back.
Status writeWholeFile(const std::string &path, std::string_view bytes);

/// Writes the file piece by piece. When `write` fails, no file is left and its error is returned;
/// an error of the stream itself goes first.
Status writeWholeFile(const std::string &path, const std::function<Status(std::ostream &)> &write);

} // namespace syncline
