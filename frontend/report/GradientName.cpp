// Finds gradients by names, prefixes and globs.
#include "frontend/report/GradientName.h"

#include "frontend/report/PlanText.h"
#include "syncline/Suggestion.h"

#include "llvm/Support/GlobPattern.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>

namespace syncline::report {

namespace {

/// "fc" of "fc.weight"; a name without a dot is its own.
std::string_view stemOf(std::string_view parameter) {
  const std::size_t dot = parameter.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? parameter : parameter.substr(0, dot);
}

using Matcher = std::function<bool(std::string_view)>;

std::vector<std::size_t> matching(std::span<const GradientName> gradients, const Matcher &fits) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < gradients.size(); ++i)
    if (fits(gradients[i].parameter) || fits(stemOf(gradients[i].parameter)) ||
        std::ranges::any_of(gradients[i].layers, fits))
      found.push_back(i);
  return found;
}

/// Gradients that `text` may mean: by name, else by the name's beginning, else by glob.
Result<std::vector<std::size_t>> candidates(std::span<const GradientName> gradients,
                                            const std::string &text) {
  std::vector<std::size_t> found =
      matching(gradients, [&](std::string_view name) { return name == text; });
  if (found.empty() && !text.empty())
    found = matching(gradients, [&](std::string_view name) { return name.starts_with(text); });
  if (!found.empty() || text.find_first_of("*?[{") == std::string::npos)
    return found;
  llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(text);
  if (!glob)
    return Status::badInput("'" + text + "': " + llvm::toString(glob.takeError()));
  return matching(gradients, [&](std::string_view name) { return glob->match(name); });
}

Status unknown(std::span<const GradientName> gradients, const std::string &text) {
  if (gradients.empty())
    return Status::badInput("the plan has no gradients, so none is called '" + text + "'");
  std::vector<std::string_view> parameters, layers;
  for (const GradientName &gradient : gradients) {
    parameters.push_back(gradient.parameter);
    layers.push_back(stemOf(gradient.parameter));
    layers.insert(layers.end(), gradient.layers.begin(), gradient.layers.end());
  }
  const std::string_view layer =
      nearestName(text, parameters).empty() ? nearestName(text, layers) : "";
  const std::string hint =
      layer.empty() ? suggestionOfMany(text, parameters) : suggestion(text, layers);
  return Status::badInput("no gradient is called '" + text + "'" + printable(hint));
}

} // namespace

Result<std::size_t> findGradient(std::span<const GradientName> gradients, const std::string &text) {
  for (std::size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i].parameter == text)
      return i;
  SYNCLINE_TRY_GET(found, candidates(gradients, text));
  if (found->empty())
    return unknown(gradients, text);
  std::set<std::string_view> layers;
  for (std::size_t i : *found)
    layers.insert(stemOf(gradients[i].parameter));
  if (layers.size() > 1) {
    constexpr std::size_t most = 5;
    std::string list;
    for (std::size_t i = 0; i < std::min(found->size(), most); ++i)
      list += (i ? ", '" : "'") + printable(gradients[(*found)[i]].parameter) + "'";
    return Status::badInput("'" + text + "' means " + std::to_string(found->size()) +
                            " gradients, expected one layer's: " + list +
                            (found->size() > most ? ", ..." : ""));
  }
  return *std::ranges::max_element(*found, {}, [&](std::size_t i) { return gradients[i].bytes; });
}

} // namespace syncline::report
