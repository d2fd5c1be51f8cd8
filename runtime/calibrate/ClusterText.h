// The cluster file that a calibration writes.
#pragma once

#include "runtime/calibrate/Analysis.h"

#include <string>

namespace syncline::calibrate {

/// What is measured nowhere but stands in the file.
struct Labels {
  std::string name;     ///< the cluster's
  std::string versions; ///< of what measured
};

/// YAML as `syncline compile --cluster` reads it; comments say how sure each value is.
std::string clusterText(const Findings &findings, const Analysis &analysis, const Labels &labels);

/// A time with a unit, six digits: "44.1us".
std::string timeText(double seconds);

} // namespace syncline::calibrate
