// The rules of ssp, asp and dssp.
#include "passes/simulate/consistency/ClockKeeper.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace syncline::simulate {

using Form = Consistency::Form;

ClockKeeper::ClockKeeper(const Consistency &consistency, int workers)
    : consistency(consistency), clocks(static_cast<std::size_t>(workers)), extra(clocks.size()),
      pushes(clocks.size()) {}

std::int64_t ClockKeeper::least() const { return *std::ranges::min_element(clocks); }

std::vector<ClockKeeper::Grant> ClockKeeper::tick(int worker, double now) {
  ++clocks[worker];
  pushes[worker] = {now, pushes[worker].last, pushes[worker].count + 1};
  if (consistency.form == Form::asp)
    return {{worker, least()}};
  std::vector<Grant> grants;
  if (mayGoOn(worker))
    grants.push_back({worker, least()});
  else
    held.push_back(worker);
  std::erase_if(held, [&](int other) {
    const bool isFree = lead(other) <= consistency.staleness;
    if (isFree)
      grants.push_back({other, least()});
    return isFree;
  });
  return grants;
}

bool ClockKeeper::mayGoOn(int worker) {
  if (extra[worker] > 0) {
    --extra[worker];
    return true;
  }
  if (lead(worker) <= consistency.staleness)
    return true;
  if (consistency.form != Form::dssp)
    return false;
  const bool isFastest = clocks[worker] == *std::ranges::max_element(clocks);
  const std::int64_t steps = isFastest ? extraSteps(worker) : 0;
  extra[worker] = std::max<std::int64_t>(0, steps - 1); // the first one is this grant
  return steps > 0;
}

/// The number of steps after which the worker would wait least for one of the slowest one's next
/// pushes, both at most as many as the upper bound leaves; 0 where that is by waiting now.
std::int64_t ClockKeeper::extraSteps(int worker) const {
  const auto slowest = static_cast<std::size_t>(std::ranges::min_element(clocks) - clocks.begin());
  const Pushes &own = pushes[worker], &other = pushes[slowest];
  const std::int64_t range = consistency.upper - consistency.staleness;
  const std::int64_t most = std::min(range, consistency.upper - lead(worker) + 1);
  if (most <= 0 || own.count < 2 || other.count < 2 || other.interval() <= 0)
    return 0;
  double least = std::numeric_limits<double>::infinity();
  std::int64_t best = 0;
  for (std::int64_t steps = 0; steps <= most; ++steps) {
    const double mine = own.last + static_cast<double>(steps) * own.interval();
    const double pushesLater = (mine - other.last) / other.interval();
    for (const double later : {std::floor(pushesLater), std::ceil(pushesLater)}) {
      const double bounded = std::clamp(later, 1.0, static_cast<double>(most + 1));
      const double apart = std::abs(other.last + bounded * other.interval() - mine);
      if (apart < least) {
        least = apart;
        best = steps;
      }
    }
  }
  return best;
}

} // namespace syncline::simulate
