// Exchanging drift as text.
#include "runtime/run/weights/Drift.h"

#include <cstdlib>
#include <limits>
#include <sstream>

namespace syncline::run {

Result<Drift> sumDrift(transport::Group &group, const Drift &own, double timeoutSeconds) {
  std::ostringstream text;
  text.precision(std::numeric_limits<double>::max_digits10);
  const core::DriftCounts &c = own.counts;
  text << c.largestLead << ' ' << c.largestStaleness << ' ' << c.staleness << ' ' << c.steps << ' '
       << c.waited << ' ' << own.result.samplesPerSecond << ' ' << own.result.loss;
  SYNCLINE_TRY_GET(
      all, group.gather("drift", text.str(), timeoutSeconds, transport::Participants::workers));
  Drift sum;
  sum.ranks = static_cast<int>(all->size());
  for (const std::string &told : *all) {
    Drift other;
    std::string loss; // streams do not read NaN
    core::DriftCounts &o = other.counts;
    std::istringstream(told) >> o.largestLead >> o.largestStaleness >> o.staleness >> o.steps >>
        o.waited >> other.result.samplesPerSecond >> loss;
    sum.counts.add(o);
    sum.result.samplesPerSecond += other.result.samplesPerSecond;
    sum.result.loss += std::strtod(loss.c_str(), nullptr) / sum.ranks;
  }
  return sum;
}

} // namespace syncline::run
