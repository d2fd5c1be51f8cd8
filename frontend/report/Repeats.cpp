// Buckets that come again for every block of a network.
#include "frontend/report/Repeats.h"

#include <nlohmann/json.hpp>

#include <map>
#include <string>

using namespace syncline::report;

static constexpr std::size_t longestPeriod = 64, fewestTimes = 4;

/// A name with one '#' for each number: "h.12.ln_1" becomes "h.#.ln_#".
static std::string pattern(const std::string &name) {
  std::string text;
  for (const char c : name)
    if (c < '0' || c > '9')
      text += c;
    else if (text.empty() || text.back() != '#')
      text += '#';
  return text;
}

/// What buckets that repeat each other have in common.
static std::string kind(const nlohmann::json &bucket) {
  const nlohmann::json &members = bucket.at("members");
  std::string text = bucket.at("scheme").get<std::string>() + "\n" + bucket.at("bytes").dump() +
                     "\n" + (bucket.contains("cut") ? "cut" : "whole") +
                     (bucket.contains("all_gather") ? ", halves" : "");
  for (const nlohmann::json &member : members)
    text += "\n" + pattern(member.get<std::string>());
  return text;
}

/// How often the `period` kinds from `first` on come.
static std::size_t timesOf(const std::vector<std::size_t> &kinds, std::size_t first,
                           std::size_t period) {
  std::size_t end = first + period;
  while (end < kinds.size() && kinds[end] == kinds[end - period])
    ++end;
  return (end - first) / period;
}

std::vector<Repeat> syncline::report::repeatsOf(const nlohmann::json &buckets) {
  std::map<std::string, std::size_t> numbers;
  std::vector<std::size_t> kinds;
  for (const nlohmann::json &bucket : buckets)
    kinds.push_back(numbers.emplace(kind(bucket), numbers.size()).first->second);
  std::vector<Repeat> found;
  for (std::size_t i = 0; i < kinds.size();) {
    Repeat best{i, 1, 1};
    for (std::size_t period = 1; period <= longestPeriod && i + period < kinds.size(); ++period) {
      const Repeat one{i, period, timesOf(kinds, i, period)};
      if (one.count >= fewestTimes && one.size() > best.size())
        best = one;
    }
    if (best.count >= fewestTimes)
      found.push_back(best);
    i += best.size();
  }
  return found;
}
