// Whether a report says something.
#pragma once

#include <string>

namespace syncline::report {

inline bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace syncline::report
