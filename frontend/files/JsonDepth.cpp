// Counts brackets outside of strings.
#include "frontend/files/JsonDepth.h"

#include <string>

namespace syncline::files {

Status checkJsonDepth(std::string_view text, std::string_view fileName, int most) {
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
      if (++depth > most)
        return Status::badInput(std::string(fileName) + ": expected at most " +
                                std::to_string(most) + " levels");
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return Status::ok();
}

} // namespace syncline::files
