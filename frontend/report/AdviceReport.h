// Bucket sizes for DistributedDataParallel, as text.
#pragma once

#include "frontend/report/DdpBuckets.h"
#include "frontend/sweep/Sweep.h"

#include <cstdint>
#include <string>
#include <vector>

namespace syncline::report {

/// The sizes to try, in bytes: round numbers of MiB, up to the first that holds all gradients.
std::vector<double> ddpSizes(std::int64_t gradientBytes);

/// What the advice rests on; all steps are simulated alike.
struct DdpSteps {
  sweep::Sweep sizes;               ///< one point a size, DDP's default among them
  sweep::SweepPoint list;           ///< by planner ddp-list
  sweep::SweepPoint plan;           ///< the plan's own step
  std::vector<ModuleBytes> modules; ///< in the plan's order
  std::string hook;    ///< of default_hooks, which sends what the plan sends: "allreduce_hook"
  std::string sources; ///< where times come from, in lines
  bool isTrace;        ///< modules are layers of a trace, whose gradients are not known
  bool hasFrozen;      ///< the plan was told which parameters are trained
};

/// The advice as text: bucket_cap_mb_list where its step is more than 0.1 % shorter than by any
/// size, and bucket_cap_mb, the size nearest to the default among those within 0.1 % of the
/// shortest step.
std::string ddpAdvice(const DdpSteps &steps);

} // namespace syncline::report
