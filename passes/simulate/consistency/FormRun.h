// FormRun: one consistency's rule in virtual time.
#pragma once

#include "passes/simulate/consistency/ActionQueue.h"
#include "passes/simulate/consistency/ServerLinks.h"
#include "passes/simulate/consistency/Workers.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace syncline::simulate {

/// What a rule acts on. All must outlive it.
struct FormPlace {
  const WorkerScenario &scenario;
  ActionQueue &queue;
  Workers &workers;
  ServerLinks &links;
};

/// The least of all workers' states but this one's, in steps; its own where there is no other.
template <typename State>
std::int64_t leastOfOthers(const std::vector<State> &states, int worker,
                           std::int64_t State::*steps) {
  std::int64_t least = states.size() > 1 ? INT64_MAX : states[worker].*steps;
  for (std::size_t other = 0; other < states.size(); ++other)
    if (std::cmp_not_equal(other, worker))
      least = std::min(least, states[other].*steps);
  return least;
}

class FormRun {
public:
  virtual ~FormRun() = default;
  /// Begins the first steps. Everything else follows from events.
  virtual void start() = 0;
};

std::unique_ptr<FormRun> createBoundedRun(const FormPlace &place);    ///< ssp, asp, dssp
std::unique_ptr<FormRun> createElasticRun(const FormPlace &place);    ///< easgd by servers
std::unique_ptr<FormRun> createCollectiveRun(const FormPlace &place); ///< the others

} // namespace syncline::simulate
