// Reads and matches requests of schemes.
#include "passes/merge/RequestedSchemes.h"

#include "syncline/RowsPart.h"
#include "syncline/Suggestion.h"

#include "llvm/Support/GlobPattern.h"

using namespace mlir;

namespace syncline::merge {

using cluster::Scheme;

static std::string quoted(StringRef text) { return ("'" + text + "'").str(); }

static std::optional<Scheme> schemeNamed(StringRef name) {
  if (name == "ps")
    return Scheme::parameterServer;
  if (name == "sfb")
    return Scheme::factors;
  return cluster::symbolizeScheme(name);
}

static Result<llvm::GlobPattern> patternOf(StringRef glob) {
  llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(glob);
  if (!pattern)
    return Status::badInput("expected a pattern of layers such as 'fc*', got " + quoted(glob) +
                            ": " + llvm::toString(pattern.takeError()));
  return std::move(*pattern);
}

Result<RequestedScheme> parseRequestedScheme(StringRef text) {
  const auto [glob, name] = text.rsplit('=');
  if (!text.contains('=') || glob.empty())
    return Status::badInput("expected LAYERS=SCHEME, as in 'fc*=factors', got " + quoted(text));
  SYNCLINE_TRY(patternOf(glob));
  if (std::optional<Scheme> scheme = schemeNamed(name))
    return RequestedScheme{glob.str(), *scheme};
  std::vector<std::string_view> known;
  for (Scheme scheme : allSchemes())
    known.push_back(schemeName(scheme));
  known.insert(known.end(), {"ps", "sfb"});
  return Status::badInput("unknown scheme " + quoted(name) + " for " + quoted(glob) +
                          suggestion(std::string_view(name), known));
}

/// A suggestion of similar names among all names of all gradients.
static std::string namesNear(const std::string &glob, ArrayRef<GradientNames> gradients) {
  std::vector<std::string_view> names;
  for (const GradientNames &gradient : gradients)
    names.insert(names.end(), gradient.begin(), gradient.end());
  return names.empty() ? "" : suggestionOfMany(glob, names);
}

Result<std::vector<std::optional<Scheme>>> requestedSchemes(ArrayRef<GradientNames> gradients,
                                                            ArrayRef<RequestedScheme> patterns) {
  std::vector<std::optional<Scheme>> requested(gradients.size());
  const auto isRows = [&](std::size_t k) {
    return !gradients[k].empty() && isRowsPart(gradients[k].front());
  };
  for (std::size_t k = 0; k < gradients.size(); ++k)
    if (isRows(k))
      requested[k] = Scheme::sparse;
  for (const RequestedScheme &entry : patterns) {
    SYNCLINE_TRY_GET(pattern, patternOf(entry.glob));
    bool isUsed = false;
    auto fits = [&](const std::string &name) { return pattern->match(name); };
    for (std::size_t k = 0; k < gradients.size(); ++k)
      if (!isRows(k) && llvm::any_of(gradients[k], fits)) {
        requested[k] = entry.scheme;
        isUsed = true;
      }
    if (!isUsed)
      return Status::badInput(
          "no layer matches " + quoted(entry.glob) + ", which shall travel by " +
          quoted(cluster::stringifyScheme(entry.scheme)) + namesNear(entry.glob, gradients));
  }
  return requested;
}

} // namespace syncline::merge
