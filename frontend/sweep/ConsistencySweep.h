// A plan by several consistencies: what was simulated of each.
#pragma once

#include "passes/simulate/consistency/WorkerSimulation.h"
#include "syncline/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace syncline::sweep {

/// One consistency in virtual time. Where gradients travel ("bsp") only what concerns steps is
/// known: nothing lags, and there are no servers' loads.
struct ConsistencyPoint {
  std::string form; ///< as `compile --consistency` takes it
  int ranks = 1;
  double samples = 0; ///< of one rank in a step; 0 where a trace does not say
  double step = 0;    ///< seconds, in the mean over ranks
  double waiting = 0; ///< part of all ranks' time in which they do not compute
  double traffic = 0; ///< bytes that a node moves a step
  double alone = 0;   ///< seconds of one device's step that sends nothing
  bool hasServers = false;
  simulate::Staleness staleness = {};
  std::int64_t largestLead = 0;
  double serverLoad = 0, lockLoad = 0; ///< where hasServers
  /// Rank by rank: steps a second, and the part of its time in which it waits. Empty for bsp.
  std::vector<double> rates = {}, waits = {};

  double samplesPerSecond() const { return step > 0 ? samples * ranks / step : 0; }
};

/// A consistency without a point, and why it has none.
struct RefusedForm {
  std::string form, reason;
};

struct ConsistencySweep {
  std::vector<ConsistencyPoint> points; ///< in the order in which they were named
  std::vector<RefusedForm> refused = {};
};

/// The axis' name in `--sweep consistency=..`.
inline constexpr std::string_view consistencyAxis = "consistency";

/// Splits "bsp,ssp:3,dssp:3,15" into forms: a comma before a number belongs to the form. Returns
/// badUsage where a form is empty or named twice. Whether each is a form says whoever reads it.
Result<std::vector<std::string>> splitForms(std::string_view text);

} // namespace syncline::sweep
