// The error for a scheme that does not exist.
#include "syncline/Scheme.h"

#include "syncline/Suggestion.h"

#include <vector>

namespace syncline {

Result<Scheme> readScheme(std::string_view name) {
  if (const std::optional<Scheme> scheme = parseScheme(name))
    return *scheme;
  std::vector<std::string_view> known;
  for (Scheme scheme : allSchemes())
    known.push_back(schemeName(scheme));
  return Status::badInput("unknown scheme '" + std::string(name) + "'" + suggestion(name, known));
}

} // namespace syncline
