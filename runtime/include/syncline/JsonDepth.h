// A limit on how deep a JSON text nests, checked before the text is parsed. For every reader of a
// file that a user may have written.
#pragma once

#include "syncline/Status.h"

#include <string>
#include <string_view>

namespace syncline {

/// The deepest nesting that readers accept in a plan.json. Plans that the compiler writes have
/// six levels.
inline constexpr int maxPlanLevels = 32;

/// Copying or printing a parsed value takes a call for each level, so text that nests very
/// deep could overflow the stack. The function does not check whether the text is valid
/// otherwise. Messages begin with `place`. Errors: badInput for more than `maxLevels`
/// levels of arrays and objects.
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
