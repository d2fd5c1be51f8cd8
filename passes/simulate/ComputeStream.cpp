// Tracks the work that is left and the speed at which it is done.
#include "passes/simulate/ComputeStream.h"

#include <algorithm>

namespace syncline::simulate {

double ComputeStream::begin(double now, double seconds, std::optional<problem::WorkClass> work) {
  running = true;
  kind = work ? 1 + static_cast<std::size_t>(*work) : 0;
  left = seconds;
  since = now;
  end = now + seconds * pace();
  computed += seconds * pace();
  ++count;
  return end;
}

std::optional<double> ComputeStream::enter(double now, const Slowing &slowing) {
  const double before = pace();
  for (std::size_t i = 0; i < underWay.size(); ++i)
    underWay[i].insert(slowing.of[i]);
  return goOn(now, before);
}

std::optional<double> ComputeStream::leave(double now, const Slowing &slowing) {
  const double before = pace();
  for (std::size_t i = 0; i < underWay.size(); ++i)
    underWay[i].erase(underWay[i].find(slowing.of[i]));
  return goOn(now, before);
}

/// Foresees the end anew where the pace was `before`.
std::optional<double> ComputeStream::goOn(double now, double before) {
  if (!running || pace() == before)
    return std::nullopt;
  left = std::max(0.0, left - (now - since) / before);
  since = now;
  const double foreseen = end;
  end = now + left * pace();
  computed += end - foreseen;
  ++count;
  return end;
}

} // namespace syncline::simulate
