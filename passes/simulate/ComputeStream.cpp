// Tracks the work that is left and the speed at which it is done.
#include "passes/simulate/ComputeStream.h"

#include <algorithm>

namespace syncline::simulate {

double ComputeStream::begin(double now, double seconds) {
  running = true;
  left = seconds;
  since = now;
  end = now + seconds * pace();
  computed += seconds * pace();
  ++count;
  return end;
}

std::optional<double> ComputeStream::enter(double now, double slowing) {
  const double before = pace();
  underWay.insert(slowing);
  return goOn(now, before);
}

std::optional<double> ComputeStream::leave(double now, double slowing) {
  const double before = pace();
  underWay.erase(underWay.find(slowing));
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
