// Nearest names by edit distance.
#include "syncline/Suggestion.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace syncline {
namespace {

constexpr std::size_t maxBytes = 64;

/// Optimal string alignment distance in bytes (Damerau-Levenshtein without edits inside an
/// exchanged pair), with three rows of the usual table.
std::size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last.back();
}

std::size_t commonStart(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

} // namespace

std::string quotedList(std::span<const std::string_view> known) {
  std::string list;
  for (std::string_view name : known)
    list += (list.empty() ? "'" : ", '") + std::string(name) + "'";
  return list;
}

std::string_view nearestName(std::string_view unknown, std::span<const std::string_view> known) {
  const std::string_view probe = unknown.substr(0, maxBytes);
  std::string_view nearest;
  std::size_t best = std::max<std::size_t>(1, probe.size() / 3) + 1;
  for (std::string_view name : known) {
    const std::size_t longer = std::max(name.size(), probe.size());
    if (longer - std::min(name.size(), probe.size()) > best)
      continue;
    const std::size_t distance = editDistance(probe, name);
    const bool isNearer = distance == best && !nearest.empty() &&
                          commonStart(probe, name) > commonStart(probe, nearest);
    if (distance < best || isNearer) {
      best = distance;
      nearest = name;
    }
  }
  return nearest;
}

std::string suggestion(std::string_view unknown, std::span<const std::string_view> known) {
  if (const std::string_view nearest = nearestName(unknown, known); !nearest.empty())
    return ", did you mean '" + std::string(nearest) + "'?";
  return ", expected one of " + quotedList(known);
}

std::string suggestionOfMany(std::string_view unknown, std::span<const std::string_view> known,
                             std::size_t maxNames) {
  if (const std::string_view nearest = nearestName(unknown, known); !nearest.empty())
    return ", did you mean '" + std::string(nearest) + "'?";
  const std::string_view probe = unknown.substr(0, maxBytes);
  // Names that contain the text come first, then names that begin like it, then names at a
  // small distance.
  std::vector<std::tuple<bool, std::size_t, std::size_t, std::size_t>> order;
  for (std::size_t i = 0; i < known.size(); ++i)
    order.emplace_back(known[i].find(probe) == known[i].npos,
                       maxBytes - commonStart(probe, known[i]),
                       editDistance(probe, known[i].substr(0, 4 * maxBytes)), i);
  std::ranges::sort(order);
  std::vector<std::string_view> listed;
  for (const auto &[isOther, start, distance, place] : order)
    if (listed.size() < maxNames && std::ranges::find(listed, known[place]) == listed.end())
      listed.push_back(known[place]);
  return ", expected a name such as " + quotedList(listed);
}

} // namespace syncline
