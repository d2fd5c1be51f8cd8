// The error for a scheme that does not exist, and lists of schemes.
#include "syncline/Scheme.h"

#include "syncline/Suggestion.h"

#include <algorithm>

namespace syncline {

Result<Scheme> readScheme(std::string_view name) {
  if (const std::optional<Scheme> scheme = parseScheme(name))
    return *scheme;
  std::vector<std::string_view> known;
  for (Scheme scheme : allSchemes())
    known.push_back(schemeName(scheme));
  return Status::badInput("unknown scheme '" + std::string(name) + "'" + suggestion(name, known));
}

std::vector<Scheme> carriedSchemes(bool byNccl) {
  std::vector<Scheme> all;
  for (Scheme scheme : allSchemes())
    if (isCarried(scheme, byNccl))
      all.push_back(scheme);
  std::ranges::stable_sort(all, {}, schemeKind);
  return all;
}

std::string listOf(std::span<const Scheme> schemes, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < schemes.size(); ++i) {
    text += i == 0 ? "" : i + 1 == schemes.size() ? last : ", ";
    text += schemeName(schemes[i]);
  }
  return text;
}

} // namespace syncline
