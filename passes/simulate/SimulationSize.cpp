// Counts results in doubles, since products of the user's numbers may be too large for integers.
#include "passes/simulate/SimulationSize.h"

#include "passes/simulate/MessageRuns.h"

namespace syncline::simulate {

Status expectFits(const simulate::Scenario &scenario, const Wanted &wanted,
                  std::int64_t microBatches) {
  constexpr double maxKept = 40e6, maxOnPath = 2e6, maxTraced = 4e6;
  const double ranks =
      simulate::MessageRuns::canFold(scenario) ? 1 : static_cast<double>(scenario.machines.ranks);
  const double ofRank = static_cast<double>(scenario.steps) * static_cast<double>(microBatches) *
                        static_cast<double>(scenario.operations.size() + scenario.messages.size());
  struct Limit {
    bool isRequested;
    double count, most;
    const char *what;
  };
  for (const Limit &limit : {Limit{true, ofRank * ranks, maxKept, "in memory"},
                             Limit{wanted.path || microBatches > 1, ofRank, maxOnPath, "in a row"},
                             Limit{wanted.trace, ofRank * ranks, maxTraced, "in a trace"}})
    if (limit.isRequested && limit.count > limit.most)
      return Status::badInput("expected at most " +
                              std::to_string(static_cast<std::int64_t>(limit.most)) +
                              " operations and messages " + limit.what + ", got " +
                              std::to_string(static_cast<std::int64_t>(ofRank / scenario.steps)) +
                              " a step in " + std::to_string(scenario.steps) + " steps of " +
                              std::to_string(static_cast<std::int64_t>(ranks)) + " ranks");
  return Status::ok();
}

} // namespace syncline::simulate
