// Tracks what is left of each message, in seconds that it would take alone.
#include "passes/simulate/StatedRuns.h"

#include <algorithm>

namespace syncline::simulate {

void StatedRuns::begin(double now, int run, double seconds) {
  goOn(now);
  runs.push_back({.number = run, .left = seconds});
  predict(now);
}

bool StatedRuns::isCurrent(int run, std::uint32_t version) const {
  return std::ranges::any_of(
      runs, [&](const Run &each) { return each.number == run && each.version == version; });
}

void StatedRuns::end(double now, int run) {
  goOn(now);
  std::erase_if(runs, [&](const Run &each) { return each.number == run; });
  predict(now);
}

void StatedRuns::setOthers(double now, bool areUnderWay) {
  if (areUnderWay == hasOthers)
    return;
  goOn(now);
  hasOthers = areUnderWay;
  predict(now);
}

/// Takes off what the messages have done since the last change.
void StatedRuns::goOn(double now) {
  for (Run &run : runs)
    run.left = std::max(0.0, run.left - (now - since) / pace());
  since = now;
}

void StatedRuns::predict(double now) {
  for (Run &run : runs) {
    run.version = ++versions;
    predicted({run.number, run.version, now + run.left * pace()});
  }
}

} // namespace syncline::simulate
