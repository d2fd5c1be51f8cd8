// Local search over the choices of all segments.
#include "passes/recompute/Search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace syncline::recompute {

namespace {

constexpr std::array allChoices{Choice::keep, Choice::light, Choice::full, Choice::joined};

/// Whether `a` is the better answer for the limit: it fits, and has fewer seconds; or none fits,
/// and it has fewer bytes.
bool isBetter(const Outcome &a, const Outcome &b, std::int64_t limit) {
  const bool fits = a.bytes <= limit, otherFits = b.bytes <= limit;
  if (fits != otherFits)
    return fits;
  if (fits)
    return a.seconds < b.seconds || (a.seconds == b.seconds && a.bytes < b.bytes);
  return a.bytes < b.bytes || (a.bytes == b.bytes && a.seconds < b.seconds);
}

class Search {
public:
  Search(const Problem &problem, std::int64_t limit) : problem(problem), limit(limit) {}

  Found from(Choices start) {
    Found found{std::move(start), {}};
    found.outcome = outcomeOf(problem, found.choices);
    while (found.outcome.bytes > limit && descend(found))
      ;
    if (found.outcome.bytes <= limit)
      while (undo(found))
        ;
    return found;
  }

private:
  Found changed(const Found &found, std::size_t segment, Choice choice) const {
    Found other{found.choices, {}};
    other.choices[segment] = choice;
    other.outcome = outcomeOf(problem, other.choices);
    return other;
  }

  /// The bytes that matter: those above the limit.
  std::int64_t excess(const Outcome &outcome) const { return std::max(outcome.bytes, limit); }

  /// Takes the change that frees most bytes above the limit for each second that it adds.
  bool descend(Found &found) const {
    std::optional<Found> best;
    double bestRate = 0;
    for (std::size_t segment = 0; segment < found.choices.size(); ++segment)
      for (const Choice choice : allChoices) {
        if (choice == found.choices[segment])
          continue;
        Found other = changed(found, segment, choice);
        const auto freed = static_cast<double>(excess(found.outcome) - excess(other.outcome));
        if (freed <= 0)
          continue;
        const double added = std::max(other.outcome.seconds - found.outcome.seconds, 1e-12);
        if (freed / added <= bestRate)
          continue;
        bestRate = freed / added;
        best = std::move(other);
      }
    if (best)
      found = std::move(*best);
    return best.has_value();
  }

  /// Takes the change that saves most seconds and still fits.
  bool undo(Found &found) const {
    std::optional<Found> best;
    for (std::size_t segment = 0; segment < found.choices.size(); ++segment)
      for (const Choice choice : allChoices) {
        if (choice == found.choices[segment])
          continue;
        Found other = changed(found, segment, choice);
        if (other.outcome.bytes <= limit && other.outcome.seconds < found.outcome.seconds &&
            (!best || other.outcome.seconds < best->outcome.seconds))
          best = std::move(other);
      }
    if (best)
      found = std::move(*best);
    return best.has_value();
  }

  const Problem &problem;
  const std::int64_t limit;
};

/// Every segment full, in blocks of `size` segments.
Choices uniform(std::size_t segments, std::size_t size) {
  Choices choices(segments, Choice::joined);
  for (std::size_t k = 0; k < segments; k += size)
    choices[k] = Choice::full;
  return choices;
}

} // namespace

Found cheapest(const Problem &problem, std::int64_t limit) {
  const std::size_t segments = problem.segments();
  std::vector<Choices> starts{Choices(segments, Choice::keep)};
  if (outcomeOf(problem, starts.front()).bytes > limit) {
    starts.emplace_back(segments, Choice::light);
    const auto root = static_cast<std::size_t>(std::sqrt(static_cast<double>(segments)));
    for (std::size_t size = 1; size <= std::min(root + 2, segments); ++size)
      starts.push_back(uniform(segments, size));
  }
  Search search(problem, limit);
  std::optional<Found> best;
  for (Choices &start : starts) {
    Found found = search.from(std::move(start));
    if (!best || isBetter(found.outcome, best->outcome, limit))
      best = std::move(found);
  }
  return *best;
}

} // namespace syncline::recompute
