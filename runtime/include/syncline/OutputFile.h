// Files that a command writes: asked for before the work, whole or not there after it.
//
// A path may lead through links: what is written is where they end, and the links stay. Where
// something else than a file is there (a pipe, a device), it is written into and stays what it is.
// All functions name the path in their errors, which are badInput. Two writers of one path must not
// run at the same time.
#pragma once

#include "syncline/Status.h"

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

namespace syncline {

/// A file could be written at `path`: its folder exists and may be written to, and it is no folder;
/// or what is there instead of a file may be written to. Creates nothing.
Status expectWritableFile(const std::string &path);

/// A folder is at `path` or could be made there, with its parents, and may be written to. Creates
/// nothing.
Status expectWritableFolder(const std::string &path);

/// Writes the file under another name and renames it: whole, or as it was. Bytes that a pipe or a
/// device took before an error stay taken.
Status writeWholeFile(const std::string &path, std::string_view bytes);

/// The same, piece by piece: nothing is there where `write` fails, and its error is returned,
/// unless the stream has one: those are this function's to tell.
Status writeWholeFile(const std::string &path, const std::function<Status(std::ostream &)> &write);

} // namespace syncline
