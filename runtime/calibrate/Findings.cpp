// Values that follow from findings without a fit.
#include "runtime/calibrate/Findings.h"

#include <algorithm>

namespace syncline::calibrate {

Curve SchemeFinding::curve() const {
  Curve curve;
  for (const SizeFinding &size : sizes)
    curve.push_back({size.bytes, size.seconds.median});
  return curve;
}

/// The rate of a step that runs each operation once.
static double rate(const std::vector<KernelFinding> &kernels, double KernelFinding::*work) {
  double done = 0, seconds = 0;
  for (const KernelFinding &kernel : kernels) {
    done += kernel.*work;
    seconds += kernel.seconds.median;
  }
  return seconds > 0 ? done / seconds : 0;
}

double DeviceFinding::computeRate() const { return rate(compute, &KernelFinding::flops); }
double DeviceFinding::memoryRate() const { return rate(memory, &KernelFinding::bytes); }

double Interference::factor(const Summary &operations) const {
  if (operations.median <= 1)
    return 1;
  const double stretch = beside.samples > 0 ? std::max(1.0, beside.median) : 1;
  // The computation's loss in each second beside messages, scaled by `stretch` to a second of the
  // messages' time alone.
  const double lost = (1 - 1 / operations.median) * stretch;
  return 1 / std::max(1 - lost, 1 / maxFactor);
}

double Interference::latencyFactor() const {
  return 1 / std::max(1 - std::max(latency.median, 0.0), 1 / maxFactor);
}

double Interference::messageFactor() const { return std::clamp(messages.median, 1.0, maxFactor); }

static bool areApart(const Summary &one, const Summary &other) {
  return std::min(one.samples, other.samples) >= fewestForInterval &&
         (one.low > other.high || one.high < other.low);
}

bool Interference::tellsClasses() const { return areApart(products, memory); }

bool Interference::differsFrom(const Interference &other) const {
  return areApart(computation, other.computation) || areApart(products, other.products) ||
         areApart(memory, other.memory);
}

bool isReproducible(const std::vector<SchemeFinding> &schemes) {
  constexpr double known = 0.1;
  int good = 0, all = 0;
  for (const SchemeFinding &scheme : schemes)
    for (const SizeFinding &size : scheme.sizes) {
      ++all;
      good += size.seconds.samples > 1 && size.seconds.uncertainty() <= known;
    }
  return 4 * good >= 3 * all;
}

} // namespace syncline::calibrate
