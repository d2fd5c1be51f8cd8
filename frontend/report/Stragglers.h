// Ranks that compute slower than most, what they cost, and the batch that would even it out.
#pragma once

#include "passes/simulate/Simulation.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace syncline::report {

/// Ranks that are equally slow, and the samples that they could take on.
struct SlowRanks {
  std::vector<int> ranks; ///< ascending
  double slowdown = 1;    ///< how many times as long as most ranks they compute
  /// The share of the others' samples with which their passes take no longer than the others'; 0
  /// where that is less than one sample.
  double share = 0;
  std::int64_t batch = 0; ///< `share` in whole samples; 0 where the samples are unknown
};

struct Stragglers {
  std::vector<SlowRanks> groups; ///< the slowest first
  double step = 0;               ///< seconds, as simulated
  double without = 0;            ///< the step's seconds if they were as fast as most ranks
  double minWait = 0;            ///< seconds a step for which the other ranks wait for messages
  double maxWait = 0;
  std::optional<double> balanced =
      {}; ///< step with the groups' batches; absent where there is none
};

/// Finds the ranks whose slowdown is above the median, and simulates twice more: without slowdowns
/// above the median, and with the batches that even the passes out. Nothing where no rank is slow.
/// `samples` are a rank's in a micro-batch, where known. Errors are runScenario's.
Result<std::optional<Stragglers>> findStragglers(const simulate::Scenario &scenario,
                                                 const simulate::Simulation &simulation,
                                                 std::optional<std::int64_t> samples);

/// "rank 3 computes 1.5 times as long: 69.8 -> 99.9 ms (+43.2 %); the others wait .." in two lines.
std::string stragglersText(const Stragglers &stragglers, int ranks,
                           std::optional<std::int64_t> samples, std::int64_t microBatches = 1);
nlohmann::json stragglersJson(const std::optional<Stragglers> &stragglers);

} // namespace syncline::report
