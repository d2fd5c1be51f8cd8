// What late ranks cost a plan whose messages travel in a fixed order.
#pragma once

#include "passes/simulate/Simulation.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace syncline::report {

/// One plan with its order of messages and with the order in which gradients become ready, each
/// where ranks are late and where none is.
struct LateRanks {
  double step = 0, calmStep = 0;           ///< seconds
  double readyStep = 0, calmReadyStep = 0; ///< seconds, in ready order
  double waiting = 0, calmWaiting = 0; ///< seconds a step for which a rank waits, mean of the ranks
  /// A message, and how much longer a rank waits for it in a step where ranks are late.
  struct Wait {
    std::string name;
    double more = 0; ///< seconds, mean of the ranks
  };
  std::vector<Wait> waits = {}; ///< at most three, above 0, the longest first

  /// Seconds a step by which the plan's order is shorter than ready order.
  double gain() const { return readyStep - step; }
  double calmGain() const { return calmReadyStep - calmStep; }
};

/// A plan's steps, and the same with its messages issued in ready order.
struct TwoOrders {
  simulate::Scenario planned, ready;
};

/// Compares simulations: `late`, whose planned order gave the simulation, has slow ranks or jitter,
/// `calm` has not. Simulates three more scenarios. Errors are runScenario's.
Result<LateRanks> compareLateRanks(const TwoOrders &late, const simulate::Simulation &simulation,
                                   const TwoOrders &calm);

/// "late ranks: step 10.5 s, 8.00 s without (+31.25 %); a rank waits .." in a few lines.
std::string lateRanksText(const LateRanks &late);
nlohmann::json lateRanksJson(const LateRanks &late);

} // namespace syncline::report
