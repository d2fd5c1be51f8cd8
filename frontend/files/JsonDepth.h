// How deep a JSON text nests, asked before it is parsed.
#pragma once

#include "syncline/Status.h"

#include <string_view>

namespace syncline::files {

/// Copying or printing a parsed value takes a call per level: text that nests deeper than anything
/// we read could end the program. Says nothing of whether the text is valid otherwise. Errors:
/// badInput beyond `most` levels of arrays and objects.
Status checkJsonDepth(std::string_view text, std::string_view fileName, int most);

} // namespace syncline::files
