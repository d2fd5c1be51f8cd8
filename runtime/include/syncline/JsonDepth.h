// How deep a JSON text nests, asked before it is parsed: for every reader of a file that a user may
// have written.
#pragma once

#include "syncline/Status.h"

#include <string>
#include <string_view>

namespace syncline {

/// Levels that a plan.json may have; ours have six.
inline constexpr int maxPlanLevels = 32;

/// Copying or printing a parsed value takes a call per level: text that nests deeper than anything
/// we read could end the program. Says nothing of whether the text is valid otherwise. `place`
/// begins the message. Pure. Errors: badInput beyond `maxLevels` levels of arrays and objects.
inline Status checkJsonDepth(std::string_view text, std::string_view place, int maxLevels) {
  int depth = 0;
  bool inString = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inString) {
      i += c == '\\';
      inString = c != '"';
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > maxLevels)
        return Status::badInput(std::string(place) + ": expected at most " +
                                std::to_string(maxLevels) + " levels");
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return Status::ok();
}

} // namespace syncline
