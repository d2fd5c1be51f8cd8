// Reading an input file as text, with a bound on its size and a check that it is text.
#pragma once

#include "syncline/Status.h"

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace syncline::files {

/// The content of `path`. Fails (badInput, message opens with the path) when it cannot be read, is
/// a directory, or holds more than `limit` bytes. Reads at most limit + 1 bytes, so that an endless
/// device ends too.
Result<std::string> readTextFile(const std::string &path, std::size_t limit);

/// Removes a leading UTF-8 byte order mark and checks that the rest is UTF-8 without NUL bytes:
/// names from it end up in MLIR strings and JSON, which hold nothing else. The result is a view
/// into `text`.
Result<std::string_view> checkText(std::string_view text, std::string_view fileName);

} // namespace syncline::files
