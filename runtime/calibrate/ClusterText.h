// Writing the cluster file of a calibration.
#pragma once

#include "runtime/calibrate/Analysis.h"

#include <string>

namespace syncline::calibrate {

/// Texts of the file that are not measured.
struct Labels {
  std::string name;     ///< the cluster's name
  std::string versions; ///< versions of the measuring program and its libraries
};

/// The file as YAML for `syncline compile --cluster`. Comments state the uncertainty of each value.
std::string clusterText(const Findings &findings, const Analysis &analysis, const Labels &labels);

/// A sentence for what the time did not suffice: computation beside messages of other schemes than
/// the ring, and the `--time` that has it. Empty where it was measured.
std::string besideNote(const Findings &findings);

/// A time with so many digits, and its unit behind `gap`: "44.1us".
std::string timeText(double seconds, int digits = 6, const char *gap = "");

} // namespace syncline::calibrate
