// WorkerScenario: the input of a simulation in which workers need not wait for each other, as plain
// structs. Units: seconds, bytes, steps.
#pragma once

#include "passes/simulate/Scenario.h"
#include "syncline/Consistency.h"

#include <cstdint>
#include <vector>

namespace syncline::simulate {

/// When workers wait for each other, and which numbers say so. ../README.md has the rules.
struct Consistency {
  using Form = ConsistencyForm;
  using Elastic = EasgdVariant;

  Form form = Form::asp;      ///< not bsp
  std::int64_t staleness = 0; ///< ssp: s; dssp: the lower bound
  std::int64_t upper = 0;     ///< dssp: the upper bound
  Elastic elastic = Elastic::original;
  std::int64_t period = 1;    ///< steps between a worker's exchanges: easgd, local, diloco
  std::int64_t fragments = 1; ///< exchanges in a period: diloco
  std::int64_t delay = 0;     ///< steps from an exchange's start to its use: diloco

  std::int64_t window() const { return period / fragments; }
  /// Whether servers hold weights; the others use collectives.
  bool hasServers() const { return isServed(form, elastic); }
};

struct WorkerScenario {
  Consistency consistency;
  /// Links, servers, slowdowns, `interference`, which is that of the messages that carry weights
  /// (not that of latency). Without dedicated servers every rank holds a shard. Forms with servers
  /// need `network`, or `inside` on a single node.
  Machines machines;
  double step = 0;        ///< seconds of a step's computation, on a rank without slowdown
  std::int64_t bytes = 0; ///< of all weights
  /// Seconds of each fragment's collective: forms without servers.
  std::vector<double> exchanges = {};
  double exchangeTraffic = 0; ///< bytes that a rank moves in a period: forms without servers
  std::int64_t steps = 1000;  ///< until every worker has done so many; faster ones do more
  double jitter = 0; ///< a step takes up to this part longer or shorter, evenly distributed
  std::uint64_t seed = 0;
};

/// Returns badInput unless the numbers are in range, and the run is of at most 2·10^7 steps of all
/// workers, or fewer where they are more than 64.
Status validate(const WorkerScenario &scenario);

} // namespace syncline::simulate
