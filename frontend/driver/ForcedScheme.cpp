// What `--scheme LAYER=SCHEME` says.
#include "frontend/driver/ForcedScheme.h"

#include "passes/solver/CollectiveCost.h"

namespace syncline::driver {

namespace {

/// The names in the papers.
std::string_view shortName(solver::Scheme scheme) {
  if (scheme == solver::Scheme::factors)
    return "sfb";
  return scheme == solver::Scheme::parameterServer ? "ps" : "";
}

} // namespace

std::string schemeList() {
  std::string text;
  for (solver::Scheme scheme : solver::allSchemes()) {
    text += (text.empty() ? "" : ", ") + std::string(solver::schemeName(scheme));
    if (std::string_view other = shortName(scheme); !other.empty())
      text += " (or " + std::string(other) + ")";
  }
  return text;
}

Result<std::string> forcedScheme(std::string_view text) {
  auto wrong = [&](const std::string &got) {
    return Status::error(ErrorKind::badUsage, "--scheme: expected LAYER=SCHEME, SCHEME one of " +
                                                  schemeList() + ", got '" + got + "'");
  };
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0)
    return wrong(std::string(text));
  const std::string_view name = text.substr(equals + 1);
  for (solver::Scheme scheme : solver::allSchemes())
    if (!name.empty() && (name == solver::schemeName(scheme) || name == shortName(scheme)))
      return std::string(text.substr(0, equals + 1)) + std::string(solver::schemeName(scheme));
  return wrong(std::string(text));
}

} // namespace syncline::driver
